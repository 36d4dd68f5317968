import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { scriptBundle } from './src/capture/script-bundle.ts'
import type { StaticFile } from './src/http/static-files.ts'
import { ASSETS_PATH, buildPages, type WebBundle } from './src/http/web-bundle.ts'

/** The executable: the program, its runtime and everything they need, in one file. */
const OUTFILE = 'dist/tagwarden'

const native = resolve(import.meta.dir, 'src/native/duckdb-bindings.ts')

/** Before the build, which waits for itself when it is asked for another. */
const scripts = JSON.stringify(await scriptBundle())
const web = sourceOf(await buildPages({ effort: 'best' }))

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
          contents: `const bundle = ${web}
export const ASSETS_PATH = ${JSON.stringify(ASSETS_PATH)}
export const webBundle = async () => bundle`,
        }))
      },
    },
  ],
})

console.log(`${OUTFILE}: ${(statSync(resolve(import.meta.dir, OUTFILE)).size / 1e6).toFixed(0)} MB`)

/** JavaScript that makes the same bundle. */
function sourceOf({ pages, assets }: WebBundle): string {
  const bytes = (content: Uint8Array) => `Buffer.from('${content.toBase64()}', 'base64')`
  const file = ({ type, body, packed, hash }: StaticFile) => {
    const forms = Object.entries(packed).map(([encoding, content]) => `${encoding}: ${bytes(content)}`)
    return `{ type: '${type}', hash: '${hash}', body: ${bytes(body)}, packed: { ${forms.join(', ')} } }`
  }
  const files = (all: Readonly<Record<string, StaticFile>>) =>
    `{ ${Object.entries(all)
      .map(([name, one]) => `'${name}': ${file(one)}`)
      .join(', ')} }`
  return `{ pages: ${files(pages)}, assets: ${files(assets)} }`
}
