//! Tableaux of Dormand and Prince: order five with an estimate of order four, and order eight with estimates of orders
//! five and three. Hairer, Nørsett and Wanner, Solving Ordinary Differential Equations I, sections II.5 and II.10.

/// Tableau of an explicit Runge-Kutta method.
pub(super) struct RungeKuttaTableau {
    /// Weights of the rates before each stage, from the second stage on; the last stage is the end of the step.
    pub(super) stages: &'static [&'static [f64]],
    /// Time of each stage, as a fraction of the step.
    pub(super) times: &'static [f64],
    /// Weights of the difference to the embedded method.
    pub(super) error: &'static [f64],
    /// Weights of the difference to a second embedded method, where one is not enough.
    pub(super) second: Option<&'static [f64]>,
}

/// Method of order five: seven stages.
pub(super) const DORMAND_PRINCE_FIVE: RungeKuttaTableau = RungeKuttaTableau {
    stages: &[
        &[1.0 / 5.0],
        &[3.0 / 40.0, 9.0 / 40.0],
        &[44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0],
        &[19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0],
        &[9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0],
        &[35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0],
    ],
    times: &[0.2, 0.3, 0.8, 8.0 / 9.0, 1.0, 1.0],
    error: &[
        71.0 / 57600.0,
        0.0,
        -71.0 / 16695.0,
        71.0 / 1920.0,
        -17253.0 / 339_200.0,
        22.0 / 525.0,
        -1.0 / 40.0,
    ],
    second: None,
};

/// Method of order eight: twelve stages.
pub(super) const DORMAND_PRINCE_EIGHT: RungeKuttaTableau = RungeKuttaTableau {
    stages: &[
        &[0.052_600_151_958_767_73],
        &[0.019_725_056_984_537_9, 0.059_175_170_953_613_7],
        &[0.029_587_585_476_806_85, 0.0, 0.088_762_756_430_420_54],
        &[0.241_365_134_159_266_7, 0.0, -0.884_549_479_328_286_1, 0.924_834_003_261_792],
        &[0.037_037_037_037_037_035, 0.0, 0.0, 0.170_828_608_729_473_86, 0.125_467_687_566_822_42],
        &[0.037_109_375, 0.0, 0.0, 0.170_252_211_019_544_05, 0.060_216_538_980_455_96, -0.017_578_125],
        &[
            0.037_092_000_118_504_79,
            0.0,
            0.0,
            0.170_383_925_712_239_98,
            0.107_262_030_446_373_28,
            -0.015_319_437_748_624_402,
            0.008_273_789_163_814_023,
        ],
        &[
            0.624_110_958_716_075_7,
            0.0,
            0.0,
            -3.360_892_629_446_941_4,
            -0.868_219_346_841_726,
            27.592_099_699_446_71,
            20.154_067_550_477_894,
            -43.489_884_181_069_96,
        ],
        &[
            0.477_662_536_438_264_34,
            0.0,
            0.0,
            -2.488_114_619_971_667_7,
            -0.590_290_826_836_843,
            21.230_051_448_181_193,
            15.279_233_632_882_423,
            -33.288_210_968_984_86,
            -0.020_331_201_708_508_627,
        ],
        &[
            -0.937_142_430_085_987_3,
            0.0,
            0.0,
            5.186_372_428_844_064,
            1.091_437_348_996_729_5,
            -8.149_787_010_746_927,
            -18.520_065_659_996_96,
            22.739_487_099_350_505,
            2.493_605_552_679_652_3,
            -3.046_764_471_898_219_6,
        ],
        &[
            2.273_310_147_516_538,
            0.0,
            0.0,
            -10.534_495_466_737_25,
            -2.000_872_058_224_862_5,
            -17.958_931_863_118_8,
            27.948_884_529_419_96,
            -2.858_998_277_135_023_5,
            -8.872_856_933_530_63,
            12.360_567_175_794_303,
            0.643_392_746_015_763_6,
        ],
        &[
            0.054_293_734_116_568_765,
            0.0,
            0.0,
            0.0,
            0.0,
            4.450_312_892_752_409,
            1.891_517_899_314_500_3,
            -5.801_203_960_010_585,
            0.311_164_366_957_819_9,
            -0.152_160_949_662_516_1,
            0.201_365_400_804_030_34,
            0.044_710_615_727_772_59,
        ],
    ],
    times: &[
        0.052_600_151_958_767_73,
        0.078_900_227_938_151_6,
        0.118_350_341_907_227_4,
        0.281_649_658_092_772_6,
        0.333_333_333_333_333_3,
        0.25,
        0.307_692_307_692_307_7,
        0.651_282_051_282_051_3,
        0.6,
        0.857_142_857_142_857_1,
        1.0,
        1.0,
    ],
    error: &[
        0.013_120_044_994_194_88,
        0.0,
        0.0,
        0.0,
        0.0,
        -1.225_156_446_376_204_4,
        -0.495_758_949_657_250_2,
        1.664_377_182_454_986_4,
        -0.350_328_848_749_973_66,
        0.334_179_118_713_017_5,
        0.081_923_206_485_115_71,
        -0.022_355_307_863_886_294,
    ],
    second: Some(&[
        -0.189_800_754_072_407_62,
        0.0,
        0.0,
        0.0,
        0.0,
        4.450_312_892_752_409,
        1.891_517_899_314_500_3,
        -5.801_203_960_010_585,
        -0.422_682_321_323_791_9,
        -0.152_160_949_662_516_1,
        0.201_365_400_804_030_34,
        0.022_651_792_198_360_82,
    ]),
};

#[cfg(test)]
mod tests {
    use super::*;

    /// Error at t = 4 of y' = y cos t, y(0) = 1, in this many steps.
    fn error(method: &RungeKuttaTableau, steps: u32) -> f64 {
        let h = 4.0 / f64::from(steps);
        let (mut t, mut y) = (0.0_f64, 1.0_f64);
        for _ in 0..steps {
            let (mut rates, mut at) = (Vec::new(), (t, y));
            for (weights, time) in method.stages.iter().zip(method.times) {
                rates.push(at.1 * at.0.cos());
                let sum: f64 = weights.iter().zip(&rates).map(|(w, k)| w * k).sum();
                at = (t + time * h, y + h * sum);
            }
            (t, y) = (t + h, at.1);
        }
        (y - t.sin().exp()).abs()
    }

    #[test]
    fn error_ratios_show_the_orders() {
        for (method, order, steps) in [(&DORMAND_PRINCE_FIVE, 5.0, 80), (&DORMAND_PRINCE_EIGHT, 8.0, 20)] {
            let found = (error(method, steps) / error(method, 2 * steps)).log2();
            assert!((found - order).abs() < 0.3, "{found} instead of {order}");
        }
    }

    #[test]
    fn stage_times_are_the_sums_of_their_weights() {
        for method in [&DORMAND_PRINCE_FIVE, &DORMAND_PRINCE_EIGHT] {
            for (weights, time) in method.stages.iter().zip(method.times) {
                assert!((weights.iter().sum::<f64>() - time).abs() < 1e-14);
            }
            for error in [method.error].into_iter().chain(method.second) {
                assert!(error.iter().sum::<f64>().abs() < 1e-14);
            }
        }
    }
}
