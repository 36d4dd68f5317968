import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { scriptBundle } from './src/capture/script-bundle.ts'
import { packWeb } from './src/http/packed-web.ts'
import { ASSETS_PATH, buildPages } from './src/http/web-bundle.ts'

/** The executable: the program, its runtime and everything they need, in one file. */
const OUTFILE = 'dist/tagwarden'

const native = resolve(import.meta.dir, 'src/native/duckdb-bindings.ts')

/** The contents of the pages, as the executable holds them. */
const PACKED_WEB = resolve(import.meta.dir, '.generated/web.bin')

/** Before the build, which waits for itself when it is asked for another. */
const scripts = JSON.stringify(await scriptBundle())
const web = packWeb(await buildPages({ effort: 'best' }))
await Bun.write(PACKED_WEB, web.bytes)

await Bun.build({
  entrypoints: [resolve(import.meta.dir, 'src/main.ts')],
  minify: true,
  // Compiled ahead: parsing the program would take more than half of its start.
  bytecode: true,
  format: 'esm',
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
          contents: `const bundle = ${scripts}\nexport const scriptBundle = async () => bundle`,
        }))
      },
    },
    {
      name: 'embed the pages',
      setup(build) {
        build.onLoad({ filter: /[/\\]src[/\\]http[/\\]web-bundle\.ts$/ }, () => ({
          contents: `import packed from ${JSON.stringify(PACKED_WEB)} with { type: 'file' }
import { unpackWeb } from './packed-web.ts'
export const ASSETS_PATH = ${JSON.stringify(ASSETS_PATH)}
let read = null
export const webBundle = () => (read ??= Bun.file(packed).bytes().then((bytes) => unpackWeb(bytes, ${JSON.stringify(web.index)})))`,
        }))
      },
    },
  ],
})

console.log(`${OUTFILE}: ${(statSync(resolve(import.meta.dir, OUTFILE)).size / 1e6).toFixed(0)} MB`)
