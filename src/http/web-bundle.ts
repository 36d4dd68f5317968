import { join } from 'node:path'
import { type FileOptions, type StaticFile, staticFile } from './static-files.ts'

/** The pages of the server and the files that they load, ready to be sent. */
export interface WebBundle {
  /** By file name, `home.html`; `pages.ts` maps addresses to names. They refer to assets. */
  pages: Readonly<Record<string, StaticFile>>
  /** Scripts, styles, pictures, by the last part of their path: `home-rcsx9z4h.js`, with a hash of the content. */
  assets: Readonly<Record<string, StaticFile>>
}

/** The path prefix of all assets. */
export const ASSETS_PATH = '/assets/'

const SOURCES = join(import.meta.dir, '../web')
/** The sources of the pages. */
export const PAGES = ['home.html', 'docs.html'].map((name) => join(SOURCES, name))

let built: Promise<WebBundle> | null = null

/**
 * Returns all pages and what they load, built from their sources at the first call. The executable has no sources:
 * there, `build.ts` replaces this module by one that returns the same bundle. Fails when they do not compile.
 */
export function webBundle(): Promise<WebBundle> {
  built ??= buildWeb(PAGES)
  return built
}

/**
 * Builds pages with the scripts and styles that they name; code that several of them share, or import dynamically,
 * becomes a file of its own. Fails when they do not compile.
 */
export async function buildWeb(pages: readonly string[], options: FileOptions = {}): Promise<WebBundle> {
  const { outputs } = await Bun.build({
    entrypoints: [...pages],
    target: 'browser',
    format: 'esm',
    minify: true,
    splitting: true,
    publicPath: ASSETS_PATH,
    naming: { entry: '[name].[ext]', chunk: '[name]-[hash].[ext]', asset: '[name]-[hash].[ext]' },
  })
  const bundle = { pages: {} as Record<string, StaticFile>, assets: {} as Record<string, StaticFile> }
  for (const output of outputs) {
    const name = output.path.replace(/^.*\//, '')
    const isPage = name.endsWith('.html')
    if (!isPage && !HASHED.test(name)) throw new Error(`${name} has no hash of its content in its name`)
    const type = output.type.replace(/;\s*charset=/, '; charset=')
    bundle[isPage ? 'pages' : 'assets'][name] = staticFile(type, new Uint8Array(await output.arrayBuffer()), options)
  }
  return bundle
}

const HASHED = /-[\da-z]{8}\.[\da-z]+$/
