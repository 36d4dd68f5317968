import { readdirSync, readFileSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import MarkdownIt from 'markdown-it'
import { html } from '../core/html.ts'

/** A document of `docs/`, rendered as HTML. */
export interface DocsPage {
  /** URL path without the leading slash: `docs/use/alerts`, or `docs/index` for the index. */
  path: string
  title: string
  /** Raw HTML in the source is escaped and shown as text. */
  html: string
  /** Ids of the headings, which links may refer to. */
  anchors: ReadonlySet<string>
  /** URLs of the page's links and images, as written in its HTML. */
  links: readonly string[]
}

/** An image in `docs/pictures`. */
interface Picture {
  type: string
  bytes: Uint8Array<ArrayBuffer>
}

/** All documents, and their images by file name. The file name contains a hash of the image. */
interface Docs {
  pages: readonly DocsPage[]
  pictures: ReadonlyMap<string, Picture>
}

const PICTURE_TYPES: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.webp': 'image/webp',
}
const INDEX = 'README.md'

/** Returns the paths of the documents in the folder, with their extension. The index comes first. */
const documentsOf = (folder: string) =>
  [INDEX].concat(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.md') && path !== INDEX)
      .sort(),
  )

/** Renders all documents of a folder. Image URLs consist of `picturePath` and the file name. */
export function renderDocs(folder: string, picturePath: string): Docs {
  const names = new Map<string, string>()
  const pictures = new Map<string, Picture>()
  for (const name of readdirSync(join(folder, 'pictures')).sort()) {
    const type = PICTURE_TYPES[extname(name)]
    if (type === undefined) throw new Error(`docs/pictures/${name}: pictures must be PNG, SVG or WebP`)
    const bytes = new Uint8Array(readFileSync(join(folder, 'pictures', name)))
    const hash = Bun.hash(bytes).toString(36).padStart(8, '0').slice(-8)
    const hashed = `${basename(name, extname(name))}-${hash}${extname(name)}`
    names.set(`/docs/pictures/${name}`, picturePath + hashed)
    pictures.set(hashed, { type, bytes })
  }
  const pages = documentsOf(folder).map((path) => renderDocument(path, readFileSync(join(folder, path), 'utf8'), names))
  return { pages, pictures }
}

/** Returns the URL on this server for a link in the document at `path`. Links to other hosts are unchanged. */
function addressOf(href: string, path: string, pictures: ReadonlyMap<string, string>): string {
  const base = new URL(`http://docs.invalid/docs/${path}`)
  const { origin, pathname, hash } = new URL(href, base)
  if (origin !== base.origin) return href
  if (pathname === base.pathname && hash !== '') return hash
  if (pathname === '/docs/openapi.json') return '/openapi.json'
  return pictures.get(pathname) ?? pathname.replace(/\/README\.md$/, '/index').replace(/\.md$/, '') + hash
}

/** Returns the id of a heading, which is the same as on GitHub, so that links work on both sites. */
const anchorOf = (text: string) =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')

function renderDocument(path: string, source: string, pictures: ReadonlyMap<string, string>): DocsPage {
  const markdown = new MarkdownIt({ html: false })
  const anchors = new Set<string>()
  const links: string[] = []
  let title = path
  const tokens = markdown.parse(source, {})
  for (const [at, token] of tokens.entries()) {
    if (token.type === 'heading_open') {
      const inline = tokens[at + 1]?.children ?? []
      const text = inline.map(({ content }) => content).join('')
      if (token.tag === 'h1') title = text
      let anchor = anchorOf(text)
      for (let count = 1; anchors.has(anchor); count++) anchor = `${anchorOf(text)}-${count}`
      anchors.add(anchor)
      token.attrSet('id', anchor)
    }
    for (const child of token.children ?? []) {
      const name = child.type === 'image' ? 'src' : 'href'
      const href = child.attrGet(name)
      if (href === null) continue
      const address = addressOf(String(href), path, pictures)
      child.attrSet(name, address)
      links.push(address)
    }
  }
  const html = markdown.renderer
    .render(tokens, markdown.options, {})
    // On narrow screens, tables and code scroll sideways, also by keyboard.
    .replaceAll('<table>', '<div class="table" tabindex="0" role="region" aria-label="Table"><table>')
    .replaceAll('</table>', '</table></div>')
    .replaceAll('<pre>', '<pre tabindex="0">')
  const address = path === INDEX ? 'docs/index' : `docs/${path.replace(/\.md$/, '')}`
  return { path: address, title, html, anchors, links }
}

/**
 * Returns the pages as complete HTML documents. `shell` contains the placeholders `{{title}}`, `{{navigation}}` and
 * `{{content}}`. The navigation consists of the headings and links of the index.
 */
export function fillShell(shell: string, pages: readonly DocsPage[]): Record<string, string> {
  const index = pages.find(({ path }) => path === 'docs/index')
  const sections = (index?.html ?? '').match(/<h2[\s\S]*$/)?.[0] ?? ''
  // Includes only the links, not the descriptions that follow them in the index.
  const navigation = sections
    .replace(/ id="[^"]*"/g, '')
    .replace(/<li>.*?(<a [^>]*>.*?<\/a>).*?<\/li>/gs, '<li>$1</li>')
  const fill = ({ path, title, html: content }: DocsPage) => {
    const current = navigation.replace(`href="/${path}"`, `href="/${path}" aria-current="page"`)
    const parts: Record<string, string> = { title: html`${title}`.text, navigation: current, content }
    return shell.replace(/\{\{(\w+)\}\}/g, (whole, name: string) => parts[name] ?? whole)
  }
  return Object.fromEntries(pages.map((page) => [page.path, fill(page)]))
}
