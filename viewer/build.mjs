// Bundles src/main.ts and src/style.css into dist/index.html, one file that needs no other.
import { build } from 'esbuild';
import { mkdir, readFile, writeFile } from 'node:fs/promises';

const here = new URL('.', import.meta.url);
const bundle = async (entry) => {
  const result = await build({
    entryPoints: [new URL(entry, here).pathname],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: 'es2022',
    charset: 'utf8',
    // the licences of what is bundled stay with it
    legalComments: 'inline',
  });
  return result.outputFiles[0].text;
};

const [script, style, page] = await Promise.all([
  bundle('src/main.ts'),
  bundle('src/style.css'),
  readFile(new URL('src/index.html', here), 'utf8'),
]);
// as functions: replacement strings would read $ in the code as a pattern
const html = page
  .replace('/* style */', () => style)
  .replace('/* script */', () => script.replaceAll('</script', '<\\/script'));
await mkdir(new URL('dist', here), { recursive: true });
await writeFile(new URL('dist/index.html', here), html);
console.log(`viewer/dist/index.html: ${(html.length / 1024).toFixed(0)} kB`);
