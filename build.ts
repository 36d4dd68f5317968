import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { scriptBundle } from './src/capture/script-bundle.ts'

/** The executable: the program, its runtime and everything they need, in one file. */
const OUTFILE = 'dist/tagwarden'

const native = resolve(import.meta.dir, 'src/native/duckdb-bindings.ts')

/** Before the build, which waits for itself when it is asked for another. */
const bundle = JSON.stringify(await scriptBundle())

await Bun.build({
  entrypoints: [resolve(import.meta.dir, 'src/main.ts')],
  minify: true,
  compile: {
    outfile: resolve(import.meta.dir, OUTFILE),
    // The program reads its data folder and nothing else, wherever it is started.
    autoloadDotenv: false,
    autoloadBunfig: false,
  },
  plugins: [
    {
      name: 'embed DuckDB',
      setup(build) {
        build.onResolve({ filter: /^@duckdb\/node-bindings$/ }, () => ({ path: native }))
      },
    },
    {
      name: 'embed the browser script',
      setup(build) {
        build.onLoad({ filter: /[/\\]src[/\\]capture[/\\]script-bundle\.ts$/ }, () => ({
          contents: `const bundle = ${bundle}\nexport const scriptBundle = async () => bundle`,
        }))
      },
    },
  ],
})

console.log(`${OUTFILE}: ${(statSync(resolve(import.meta.dir, OUTFILE)).size / 1e6).toFixed(0)} MB`)
