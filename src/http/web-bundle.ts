import { join } from 'node:path'
import { type FileOptions, type StaticFile, staticFile } from './static-files.ts'
import { generateClient } from './web-client.ts'

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
const PAGES = ['index.html', 'docs.html'].map((name) => join(SOURCES, name))
/** Runs before the dashboard is drawn, so that nobody sees the other colours first. All else loads beside the drawing. */
const FIRST = { page: 'index.html', script: join(SOURCES, 'theme/first.ts') }

let built: Promise<WebBundle> | null = null

/**
 * Returns all pages and what they load, built from their sources at the first call. The executable has no sources:
 * there, `build.ts` replaces this module by one that returns the same bundle. Fails when they do not compile.
 */
export function webBundle(): Promise<WebBundle> {
  built ??= buildPages()
  return built
}

/** Builds the pages of this server, after the client that they import. Fails when they do not compile. */
export async function buildPages(options: FileOptions = {}): Promise<WebBundle> {
  await generateClient()
  return buildWeb(PAGES, { ...options, first: FIRST })
}

interface BuildOptions extends FileOptions {
  /** A script that this page loads before it is drawn. */
  first?: { page: string; script: string }
}

/**
 * Builds pages with the scripts and styles that they name; code that several of them share, or import dynamically,
 * becomes a file of its own. Fails when they do not compile.
 */
export async function buildWeb(pages: readonly string[], { first, ...options }: BuildOptions = {}): Promise<WebBundle> {
  const outputs = await bundle(pages, { splitting: true })
  // The bundler joins all scripts of a page into one module, which runs after the page was drawn.
  const firstOutputs = first === undefined ? [] : await bundle([first.script], { format: 'iife' })
  const firstTag = firstOutputs.map((output) => `<script src="${ASSETS_PATH}${nameOf(output)}"></script>`).join('')
  const files = { pages: {} as Record<string, StaticFile>, assets: {} as Record<string, StaticFile> }
  for (const output of [...outputs, ...firstOutputs]) {
    const name = nameOf(output)
    const type = output.type.replace(/;\s*charset=/, '; charset=')
    if (name.endsWith('.html')) {
      const text = await output.text()
      const isFirst = name === first?.page
      files.pages[name] = staticFile(type, isFirst ? text.replace('<link ', `${firstTag}<link `) : text, options)
      continue
    }
    if (!HASHED.test(name)) throw new Error(`${name} has no hash of its content in its name`)
    files.assets[name] = staticFile(type, new Uint8Array(await output.arrayBuffer()), options)
  }
  return files
}

async function bundle(entrypoints: readonly string[], options: Partial<Bun.BuildConfig>): Promise<Bun.BuildArtifact[]> {
  const { outputs } = await Bun.build({
    entrypoints: [...entrypoints],
    target: 'browser',
    format: 'esm',
    minify: true,
    publicPath: ASSETS_PATH,
    // React and its friends leave out what only helps while developing.
    define: { 'process.env.NODE_ENV': '"production"' },
    naming: {
      entry: entrypoints.every((path) => path.endsWith('.html')) ? '[name].[ext]' : '[name]-[hash].[ext]',
      chunk: '[name]-[hash].[ext]',
      asset: '[name]-[hash].[ext]',
    },
    ...options,
  })
  return outputs
}

const nameOf = ({ path }: Bun.BuildArtifact) => path.replace(/^.*\//, '')
const HASHED = /-[\da-z]{8}\.[\da-z]+$/
