// ODE's runner. Reads the plain numbers of a scene that suite.py writes to standard input.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <ode/ode.h>
#include <string>
#include <vector>
static double cpunow() {
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}
static double MU, E;
static dWorldID W;
static dSpaceID S;
static dJointGroupID CG;
static void nearcb(void *, dGeomID a, dGeomID b) {
    dBodyID A = dGeomGetBody(a), B = dGeomGetBody(b);
    if (!A && !B)
        return;
    static dContact c[64];
    int n = dCollide(a, b, 64, &c[0].geom, sizeof(dContact));
    for (int i = 0; i < n; i++) {
        c[i].surface.mode = dContactApprox1 | (E > 0 ? dContactBounce : 0);
        c[i].surface.mu = MU;
        c[i].surface.bounce = E;
        c[i].surface.bounce_vel = 0;
        dJointAttach(dJointCreateContact(W, CG, &c[i]), A, B);
    }
}
int main(int ac, char **av) {
    std::string st = "default";
    double h = .001, maxw = 30;
    int rep = 1;
    for (int i = 1; i + 1 < ac; i += 2) {
        std::string k = av[i];
        if (k == "--h")
            h = atof(av[i + 1]);
        if (k == "--settings")
            st = av[i + 1];
        if (k == "--repeat")
            rep = atoi(av[i + 1]);
        if (k == "--max-wall")
            maxw = atof(av[i + 1]);
    }
    char name[64];
    double T, g[3];
    int plane, collide, ns, nb, nj;
    if (scanf("%63s %lf %lf %lf %lf %lf %lf %d %d %d %d %d", name, &T, g, g + 1, g + 2, &MU, &E, &plane,
              &collide, &ns, &nb, &nj) != 12)
        return 1;
    struct Bd {
        int k;
        double d[3], m, I[3], p[3], q[4], v[3], w[3], f[3];
    };
    std::vector<Bd> bs(nb);
    for (auto &b : bs) {
        double *a[] = {b.d, &b.m, b.I, b.p, b.q, b.v, b.w, b.f};
        int c[] = {3, 1, 3, 3, 4, 3, 3, 3};
        if (scanf("%d", &b.k) != 1)
            return 1;
        for (int i = 0; i < 8; i++)
            for (int j = 0; j < c[i]; j++)
                if (scanf("%lf", a[i] + j) != 1)
                    return 1;
    }
    struct Jt {
        int a, b;
        double an[3], ax[3];
    };
    std::vector<Jt> js(nj);
    for (auto &j : js)
        if (scanf("%d %d %lf %lf %lf %lf %lf %lf", &j.a, &j.b, j.an, j.an + 1, j.an + 2, j.ax, j.ax + 1,
                  j.ax + 2) != 8)
            return 1;
    dInitODE2(0);
    int k = (int)lround(T / ns / h);
    std::vector<double> walls;
    double cpumin = 1e300;
    std::string X;
    bool to = false;
    int done = 0;
    for (int r = 0; r < rep; r++) {
        W = dWorldCreate();
        S = dHashSpaceCreate(0);
        CG = dJointGroupCreate(0);
        dWorldSetGravity(W, g[0], g[1], g[2]);
        bool quick = st == "default";
        if (st == "accurate") {
            dWorldSetCFM(W, 1e-10);
            dWorldSetERP(W, .2);
        }
        if (st == "quick1000") {
            quick = true;
            dWorldSetQuickStepNumIterations(W, 1000);
            dWorldSetCFM(W, 1e-10);
        }
        if (plane)
            dCreatePlane(S, 0, 0, 1, 0);
        std::vector<dBodyID> B;
        for (auto &b : bs) {
            dBodyID o = dBodyCreate(W);
            dMass M;
            dMassSetParameters(&M, b.m, 0, 0, 0, b.I[0], b.I[1], b.I[2], 0, 0, 0);
            dBodySetMass(o, &M);
            dBodySetPosition(o, b.p[0], b.p[1], b.p[2]);
            dQuaternion q = {b.q[0], b.q[1], b.q[2], b.q[3]};
            dBodySetQuaternion(o, q);
            dBodySetLinearVel(o, b.v[0], b.v[1], b.v[2]);
            dBodySetAngularVel(o, b.w[0], b.w[1], b.w[2]);
            if (st != "default")
                dBodySetFiniteRotationMode(o, 1);
            if (collide) {
                dGeomID ge = b.k == 0   ? dCreateBox(S, 2 * b.d[0], 2 * b.d[1], 2 * b.d[2])
                             : b.k == 1 ? dCreateSphere(S, b.d[0])
                                        : dCreateCapsule(S, b.d[0], 2 * b.d[1]);
                dGeomSetBody(ge, o);
            }
            B.push_back(o);
        }
        for (auto &j : js) {
            dJointID jj = dJointCreateHinge(W, 0);
            dJointAttach(jj, B[j.b], j.a < 0 ? 0 : B[j.a]);
            dJointSetHingeAnchor(jj, j.an[0], j.an[1], j.an[2]);
            dJointSetHingeAxis(jj, j.ax[0], j.ax[1], j.ax[2]);
        }
        auto snap = [&](bool first) {
            if (r)
                return;
            if (!first)
                X += ",";
            X += "[";
            for (size_t i = 0; i < B.size(); i++) {
                const dReal *p = dBodyGetPosition(B[i]), *q = dBodyGetQuaternion(B[i]),
                            *v = dBodyGetLinearVel(B[i]), *w = dBodyGetAngularVel(B[i]);
                double a[13] = {p[0], p[1], p[2], q[0], q[1], q[2], q[3], v[0], v[1], v[2], w[0], w[1], w[2]};
                X += i ? ",[" : "[";
                for (int t = 0; t < 13; t++) {
                    char s[40];
                    if (std::isfinite(a[t]))
                        snprintf(s, 40, "%s%.17g", t ? "," : "", a[t]);
                    else
                        snprintf(s, 40, "%sNaN", t ? "," : "");
                    X += s;
                }
                X += "]";
            }
            X += "]";
        };
        snap(true);
        double wall = 0, cpu = 0;
        int s;
        for (s = 0; s < ns; s++) {
            auto t0 = std::chrono::steady_clock::now();
            double c0 = cpunow();
            for (int i = 0; i < k; i++) {
                for (int b = 0; b < nb; b++)
                    if (bs[b].f[0] || bs[b].f[1] || bs[b].f[2])
                        dBodyAddForce(B[b], bs[b].f[0], bs[b].f[1], bs[b].f[2]);
                if (collide)
                    dSpaceCollide(S, 0, nearcb);
                if (quick)
                    dWorldQuickStep(W, h);
                else
                    dWorldStep(W, h);
                dJointGroupEmpty(CG);
            }
            wall += std::chrono::duration<double>(std::chrono::steady_clock::now() - t0).count();
            cpu += cpunow() - c0;
            snap(false);
            if (wall > maxw) {
                to = true;
                s++;
                break;
            }
        }
        if (!r)
            done = s;
        walls.push_back(wall);
        cpumin = fmin(cpumin, cpu);
        dJointGroupDestroy(CG);
        dSpaceDestroy(S);
        dWorldDestroy(W);
        if (to)
            break;
    }
    double mn = walls[0];
    for (double w : walls)
        mn = fmin(mn, w);
    const char *d = st == "default"     ? "QuickStep 20 iterations (defaults)"
                    : st == "quick1000" ? "QuickStep 1000 iterations, cfm 1e-10, finite rotation"
                                        : "dWorldStep (Dantzig LCP), cfm 1e-10, erp .2, finite rotation";
    printf("{\"scene\":\"%s\",\"engine\":\"ode\",\"version\":\"0.16.2 "
           "(double)\",\"settings\":\"%s\",\"settings_desc\":\"%s\",\"h\":%.17g,\"sim_s\":%.17g,\"wall_s\":%."
           "9g,\"cpu_s\":%.9g,\"nsteps\":%d%s,\"walls\":[",
           name, st.c_str(), d, h, done * k * h, mn, cpumin, done * k, to ? ",\"timeout\":true" : "");
    for (size_t i = 0; i < walls.size(); i++)
        printf("%s%.9g", i ? "," : "", walls[i]);
    printf("],\"t\":[");
    for (int i = 0; i <= done; i++)
        printf("%s%.12g", i ? "," : "", i * k * h);
    printf("],\"X\":[%s]}\n", X.c_str());
}
