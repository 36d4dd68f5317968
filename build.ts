import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { buildPages } from './src/build/web-bundle.ts'
import { scriptBundle } from './src/capture/script-bundle.ts'
import { packWeb } from './src/http/packed-web.ts'

/** The executable: program, runtime and all dependencies in one file. */
const OUTFILE = 'dist/tagwarden'

const native = resolve(import.meta.dir, 'src/native/duckdb-bindings.ts')

/** The packed pages that the executable embeds. */
const PACKED_WEB = resolve(import.meta.dir, '.generated/web.bin')

/** Must run before the main `Bun.build`, because a build started inside another one deadlocks. */
const scripts = JSON.stringify(await scriptBundle())
const web = packWeb(await buildPages({ effort: 'best' }))
await Bun.write(PACKED_WEB, web.bytes)

await Bun.build({
  entrypoints: [resolve(import.meta.dir, 'src/main.ts')],
  minify: true,
  // Without bytecode, parsing the source would take more than half of the startup time.
  // Optimisation: see docs/develop/tuning.md
  bytecode: true,
  format: 'esm',
  compile: {
    outfile: resolve(import.meta.dir, OUTFILE),
    // The program must not read a `.env` file from the working directory, only its data folder.
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
          contents: `const bundle = ${scripts}\nexport const scriptBundle = async () => bundle`,
        }))
      },
    },
    {
      name: 'embed the pages',
      setup(build) {
        build.onLoad({ filter: /[/\\]src[/\\]build[/\\]web-bundle\.ts$/ }, () => ({
          contents: `import packed from ${JSON.stringify(PACKED_WEB)} with { type: 'file' }
import { unpackWeb } from '../http/packed-web.ts'
let read = null
export const webBundle = () => (read ??= Bun.file(packed).bytes().then((bytes) => unpackWeb(bytes, ${JSON.stringify(web.index)})))`,
        }))
      },
    },
  ],
})

console.log(`${OUTFILE}: ${(statSync(resolve(import.meta.dir, OUTFILE)).size / 1e6).toFixed(0)} MB`)
