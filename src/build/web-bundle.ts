import { join } from 'node:path'
import { transform } from 'lightningcss'
import { type FileOptions, type StaticFile, staticFile } from '../http/static-files.ts'
import { ASSETS_PATH, type WebBundle } from '../http/web-pages.ts'
import { fillShell, renderDocs } from './docs-pages.ts'
import { generateClient } from './generate-api-client.ts'

const SOURCES = join(import.meta.dir, '../web')
const DOCS = join(import.meta.dir, '../../docs')
/** The HTML template of all documents, with placeholders. */
const DOCS_SHELL = 'document.html'
const PAGES = ['index.html', 'api-reference.html', DOCS_SHELL].map((name) => join(SOURCES, name))
/**
 * The dashboard: its page, its main script, and a script that runs before rendering to set the correct colour scheme.
 */
const DASHBOARD = { page: 'index.html', first: join(SOURCES, 'before-render.ts'), main: join(SOURCES, 'main.tsx') }

let built: Promise<WebBundle> | null = null

/**
 * Returns all pages and the files they load, built from source on the first call. The executable contains no sources,
 * so `build.ts` replaces this module with one that returns the prebuilt bundle. Throws when the pages do not compile.
 */
export function webBundle(): Promise<WebBundle> {
  built ??= buildPages()
  return built
}

/** Builds the server's pages after generating the API client that they import. Throws when the pages do not compile. */
export async function buildPages(options: FileOptions = {}): Promise<WebBundle> {
  generateClient()
  const web = await buildWeb(PAGES, { ...options, dashboard: DASHBOARD })
  return withDocs(web, options)
}

/** Adds the documents in `docs/` and their images. */
function withDocs({ pages, assets, areas }: WebBundle, options: FileOptions): WebBundle {
  const { [DOCS_SHELL]: shell, ...others } = pages
  const docs = renderDocs(DOCS, ASSETS_PATH)
  const html = Object.entries(fillShell(new TextDecoder().decode(shell?.body), docs.pages))
  const pictures = [...docs.pictures].map(
    ([name, { type, bytes }]) => [name, staticFile(type, bytes, options)] as const,
  )
  return {
    pages: { ...others, ...Object.fromEntries(html.map(([path, text]) => [path, staticFile(HTML, text, options)])) },
    assets: { ...assets, ...Object.fromEntries(pictures) },
    areas,
  }
}

interface BuildOptions extends FileOptions {
  dashboard?: typeof DASHBOARD
}

/**
 * Builds pages with the scripts and styles they refer to. Code that is shared or dynamically imported becomes a
 * separate file. Throws when the pages do not compile.
 */
export async function buildWeb(
  pages: readonly string[],
  { dashboard, ...options }: BuildOptions = {},
): Promise<WebBundle> {
  const { outputs, metafile } = await bundle(pages, { splitting: true, metafile: true })
  const text = await textsOf(outputs)
  // Bundled separately, because the bundler joins all scripts of a page into one module, which runs after rendering.
  const first = dashboard ? await bundle([dashboard.first], { format: 'iife' }) : null
  const styles = dashboard ? await stylesOf(dashboard.main, [...text.values()].join('')) : null
  const shown = (name: string) => {
    const html = text.get(name) ?? ''
    if (name !== dashboard?.page || styles === null) return html
    const scripts = first?.outputs.map((output) => `<script src="${ASSETS_PATH}${nameOf(output)}"></script>`).join('')
    return html.replace(STYLE_LINK, `${scripts}<link rel="stylesheet" href="${ASSETS_PATH}${styles.name}">`)
  }
  const htmls = [...text.keys()].filter((name) => name.endsWith('.html'))
  const drawn = Object.fromEntries(htmls.map((name) => [name, shown(name)]))
  // A page uses a single style sheet, but the bundler also creates a style sheet for each of its scripts.
  const isSent = (name: string) => !name.endsWith('.css') || Object.values(drawn).some((html) => html.includes(name))
  const assets: Record<string, StaticFile> = {}
  for (const output of [...outputs, ...(first?.outputs ?? [])]) {
    const name = nameOf(output)
    if (name.endsWith('.html') || !isSent(name)) continue
    if (!HASHED.test(name)) throw new Error(`the file name ${name} contains no content hash`)
    assets[name] = staticFile(typeOf(output), new Uint8Array(await output.arrayBuffer()), options)
  }
  if (styles) assets[styles.name] = staticFile('text/css; charset=utf-8', styles.css, options)
  const html = (name: string) => staticFile(HTML, drawn[name] ?? '', options)
  return { pages: Object.fromEntries(htmls.map((name) => [name, html(name)])), assets, areas: areasOf(metafile) }
}

async function textsOf(outputs: readonly Bun.BuildArtifact[]): Promise<Map<string, string>> {
  const texts = outputs
    .filter((output) => /\.(?:html|js|css)$/.test(output.path))
    .map(async (output) => [nameOf(output), await output.text()] as const)
  return new Map(await Promise.all(texts))
}

// Optimisation: see docs/develop/tuning.md

/**
 * Returns the original styles of a script and its imports. The bundler's output is not used, because for old browsers,
 * it replaces each `inset-inline-end` with six rules whose selectors list all right-to-left languages.
 */
async function stylesOf(main: string, scripts: string): Promise<{ name: string; css: string }> {
  const { outputs } = await bundle([main], { target: 'bun' })
  const written = await Promise.all(outputs.filter(({ path }) => path.endsWith('.css')).map((output) => output.text()))
  const css = withoutUnusedStyles(written.join(''), scripts)
  return { name: `styles-${Bun.hash(css).toString(36).padStart(8, '0').slice(-8)}.css`, css }
}

/**
 * Returns a style sheet without the rules of Mantine components that no script contains. Their classes have names such
 * as `m_8bffd616`. The browser matches every remaining rule against the page on each change.
 */
export function withoutUnusedStyles(css: string, scripts: string): string {
  const used = new Set(scripts.match(/\bm_[0-9a-f]{6,}\b/g))
  const classes = css.match(/(?<=\.)m_[0-9a-f]{6,}\b/g) ?? []
  const unusedSymbols = [...new Set(classes)].filter((name) => !used.has(name))
  const { code } = transform({ filename: 'styles.css', code: Buffer.from(css), minify: true, unusedSymbols })
  return code.toString()
}

/**
 * Returns the scripts of each area: the module that its pages load lazily, with its imports. Scripts that the page itself
 * loads are omitted.
 */
function areasOf(metafile: Bun.BuildMetafile | undefined): WebBundle['areas'] {
  const outputs = Object.entries(metafile?.outputs ?? {})
  const areas: Record<string, string[]> = {}
  for (const [path, { entryPoint = '', imports }] of outputs) {
    const [, area] = /\bweb\/pages\/([^/]+)\/views$/.exec(entryPoint) ?? []
    if (area === undefined || !path.endsWith('.js')) continue
    const shared = imports.filter(({ kind }) => kind === 'import-statement').map(({ path }) => path)
    const isPage = (path: string) =>
      outputs.some(([one, { entryPoint }]) => one === path && entryPoint?.endsWith('.html'))
    areas[area] = [path, ...shared.filter((path) => !isPage(path))].map((path) => path.replace(/^.*\//, ''))
  }
  return areas
}

/**
 * Bundles the views of an area as one script: importing one of them imports those of all pages in the same `pages.ts`.
 * Otherwise, each view would be a script, and so would each combination of parts that views share.
 */
const viewsByArea: Bun.BunPlugin = {
  name: 'views by area',
  setup(build) {
    const namespace = 'views'
    const folders = new Map<string, string>()
    build.onResolve({ filter: /-pages?\.tsx$/ }, ({ importer, kind }) => {
      const [, area] = /\/(web\/pages\/[^/]+)\/pages\.ts$/.exec(importer) ?? []
      if (area === undefined || kind !== 'dynamic-import') return undefined
      folders.set(`${area}/views`, join(importer, '..'))
      // Without the absolute path, so that the bundle does not depend on the folder of the repository.
      return { path: `${area}/views`, namespace }
    })
    build.onLoad({ filter: /./, namespace }, async ({ path }) => {
      const folder = folders.get(path) ?? ''
      const text = await Bun.file(join(folder, 'pages.ts')).text()
      const imports = new Bun.Transpiler({ loader: 'ts' }).scanImports(text)
      const views = imports.filter(({ kind }) => kind === 'dynamic-import').map((one) => join(folder, one.path))
      const exports = [...new Set(views)].map((view) => `export * from ${JSON.stringify(view)}`)
      return { contents: exports.join('\n'), loader: 'ts' }
    })
  },
}

async function bundle(entrypoints: readonly string[], options: Partial<Bun.BuildConfig>): Promise<Bun.BuildOutput> {
  const output = await Bun.build({
    entrypoints: [...entrypoints],
    target: 'browser',
    format: 'esm',
    plugins: [viewsByArea],
    minify: true,
    publicPath: ASSETS_PATH,
    // Makes React and similar packages omit their development code.
    define: { 'process.env.NODE_ENV': '"production"' },
    naming: {
      entry: entrypoints.every((path) => path.endsWith('.html')) ? '[name].[ext]' : '[name]-[hash].[ext]',
      chunk: '[name]-[hash].[ext]',
      asset: '[name]-[hash].[ext]',
    },
    ...options,
  })
  // The order of the outputs varies, and the same sources must give the same executable.
  return { ...output, outputs: output.outputs.toSorted((one, other) => (one.path < other.path ? -1 : 1)) }
}

const nameOf = ({ path }: Bun.BuildArtifact) => path.replace(/^.*\//, '')
const typeOf = ({ type }: Bun.BuildArtifact) => type.replace(/;\s*charset=/, '; charset=')
const HASHED = /-[\da-z]{8}\.[\da-z]+$/
const HTML = 'text/html; charset=utf-8'
const STYLE_LINK = /<link [^>]*rel="stylesheet"[^>]*>/
