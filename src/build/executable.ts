import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import type { BunPlugin } from 'bun'
import type { BuildInfo } from '../core/build-info.ts'
import { packWeb } from '../http/packed-web.ts'
import { nativeFile } from './native-packages.ts'
import { type NativeFile, TARGETS, type TargetName } from './targets.ts'
import { thirdPartyLicenses } from './third-party.ts'
import { buildPages } from './web-bundle.ts'

const ROOT = resolve(import.meta.dir, '../..')
/** Files that the executables embed. */
const PARTS = join(ROOT, '.generated')
const COMPRESSION = { level: 19 }

/** Source modules that the executable replaces, and the text of each replacement. */
export type Replacements = Readonly<Record<string, string>>

/**
 * Builds what is the same for all targets: the pages, the browser script and the licences.
 * @param scripts the result of `scriptBundle`
 */
export async function sharedReplacements(scripts: unknown): Promise<Replacements> {
  const web = packWeb(await buildPages({ effort: 'best' }))
  const [packed, licences] = [join(PARTS, 'web.bin'), join(PARTS, 'licenses.zst')]
  writePart(packed, web.bytes)
  writePart(licences, Bun.zstdCompressSync(thirdPartyLicenses(), COMPRESSION))
  return {
    'src/capture/script-bundle.ts': `const bundle = ${JSON.stringify(scripts)}\nexport const scriptBundle = async () => bundle`,
    'src/build/web-bundle.ts': `import packed from ${JSON.stringify(packed)} with { type: 'file' }
import { unpackWeb } from '../http/packed-web.ts'
let read = null
export const webBundle = () => (read ??= Bun.file(packed).bytes().then((bytes) => unpackWeb(bytes, ${JSON.stringify(web.index)})))`,
    'src/build/third-party-licenses.ts': `import packed from ${JSON.stringify(licences)} with { type: 'file' }
export const readThirdPartyLicenses = async () => new TextDecoder().decode(Bun.zstdDecompressSync(await Bun.file(packed).bytes()))`,
  }
}

/** Builds the executable of a target. Packages of other platforms are fetched first. Throws if it can't be built. */
export async function buildExecutable(
  name: TargetName,
  { outfile, info, shared }: { outfile: string; info: BuildInfo; shared: Replacements },
): Promise<void> {
  const { compile, runtime, addons } = TARGETS[name]
  const replaced = { ...shared, 'src/native/bundled-addons.ts': await addonsModule(addons) }
  await Bun.build({
    entrypoints: [join(ROOT, 'src/main.ts')],
    minify: true,
    // Without bytecode, parsing the source would take more than half of the startup time.
    // Optimisation: see docs/develop/tuning.md
    bytecode: true,
    format: 'esm',
    // An optional peer of Elysia, which the program doesn't use, but which may be installed for another package.
    external: ['file-type'],
    define: {
      // Otherwise, the executable would contain the path of the folder in which it was built.
      __dirname: '"/"',
      BUILD_COMMIT: JSON.stringify(info.commit),
      BUILD_DATE: JSON.stringify(info.date),
    },
    compile: {
      target: compile,
      executablePath: await nativeFile(runtime),
      outfile,
      // The program must not read a `.env` file from the working directory, only its data folder.
      autoloadDotenv: false,
      autoloadBunfig: false,
    },
    plugins: [replaceModules(replaced), useBundledAddons],
  })
}

function replaceModules(replaced: Replacements): BunPlugin {
  const paths = Object.keys(replaced).map((path) => join(ROOT, path))
  return {
    name: 'replace modules',
    setup(build) {
      const filter = new RegExp(paths.map((path) => `^${RegExp.escape(path)}$`).join('|'))
      build.onLoad({ filter }, ({ path }) => ({ contents: replaced[path.slice(ROOT.length + 1)] ?? '', loader: 'js' }))
    },
  }
}

/** Makes DuckDB's and SQLite's packages load their addons with `loadAddon`. */
const useBundledAddons: BunPlugin = {
  name: 'use bundled addons',
  setup(build) {
    build.onResolve({ filter: /^@duckdb\/node-bindings$/ }, () => ({
      path: join(ROOT, 'src/native/duckdb-bindings.ts'),
    }))
    build.onLoad({ filter: /[/\\]better-sqlite3[/\\]lib[/\\]index\.js$/ }, () => ({
      contents: `const { loadAddon } = require(${JSON.stringify(join(ROOT, 'src/native/load-addon.ts'))})
module.exports = require('./database')(() => loadAddon('sqlite'), false)
module.exports.SqliteError = require('./sqlite-error')`,
    }))
  },
}

/** Returns the text of the module that embeds the addons, compressed. */
async function addonsModule(addons: Readonly<Record<string, readonly NativeFile[]>>): Promise<string> {
  const imports: string[] = []
  const bundled: string[] = []
  for (const [name, files] of Object.entries(addons)) {
    const listed: string[] = []
    const version = createHash('sha256')
    // One after the other, because they are in the same package, which may have to be fetched.
    for (const file of files) {
      const content = readFileSync(await nativeFile(file))
      const hash = createHash('sha256').update(content).digest('hex')
      version.update(hash)
      const part = join(PARTS, `${hash.slice(0, 16)}-${basename(file.path)}.zst`)
      if (!existsSync(part)) writePart(part, Bun.zstdCompressSync(content, COMPRESSION))
      const variable = `file${imports.length}`
      imports.push(`import ${variable} from ${JSON.stringify(part)} with { type: 'file' }`)
      listed.push(`{ name: '${basename(file.path)}', source: ${variable}, bytes: ${content.length} }`)
    }
    bundled.push(`${name}: { version: '${name}-${version.digest('hex').slice(0, 16)}', files: [${listed.join(', ')}] }`)
  }
  return `${imports.join('\n')}\nexport const bundledAddons = { ${bundled.join(', ')} }`
}

/** Writes a file that executables embed. */
function writePart(path: string, content: Uint8Array): void {
  mkdirSync(PARTS, { recursive: true })
  writeFileSync(`${path}.draft`, content)
  renameSync(`${path}.draft`, path)
}
