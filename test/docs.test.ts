import { describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import { renderDocs } from '../src/build/docs-pages.ts'

const ROOT = join(import.meta.dir, '..')
const MAX_PICTURE_BYTES = 150_000
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const list = (pattern: string) =>
  [...new Glob(pattern).scanSync({ cwd: ROOT })].filter((path) => !/node_modules/.test(path))

const { pages, pictures } = renderDocs(join(ROOT, 'docs'), '/assets/')
const anchorsByAddress = new Map(pages.map(({ path, anchors }) => [`/${path}`, anchors]))

/** Returns the problem with a link to a URL of the server; null when the link works. */
function problemOf(link: string, ownAnchors: ReadonlySet<string> = new Set()): string | null {
  if (/^https:\/\/\S+$/.test(link) || link === '/openapi.json' || link === '/docs') return null
  if (link.startsWith('/assets/')) return pictures.has(link.slice('/assets/'.length)) ? null : `${link}: no such image`
  const [address = '', anchor] = link.split('#')
  const anchors = address === '' ? ownAnchors : anchorsByAddress.get(address)
  if (!anchors) return `${link}: no such document`
  return anchor === undefined || anchors.has(anchor) ? null : `${link}: no such heading`
}

describe('the documents', () => {
  test.each(pages.map(({ path, anchors, links }) => [path, anchors, links] as const))(
    'link only to existing targets: %s',
    (_, anchors, links) => {
      expect(links.map((link) => problemOf(link, anchors)).filter(Boolean)).toEqual([])
    },
  )

  test('are each listed once in the index', () => {
    const [index] = pages
    const linked = index?.links.filter((link) => link.startsWith('/docs/')).sort()
    const others = pages.map(({ path }) => `/${path}`).filter((path) => path !== '/docs/index')
    expect(linked).toEqual(others.sort())
  })

  test('have exactly one title, on their first line', () => {
    for (const path of list('docs/**/*.md')) {
      const source = read(path).replace(/```[\s\S]*?```/g, '')
      expect([path, source.match(/^# .+$/gm)?.length, source.startsWith('# ')]).toEqual([path, 1, true])
    }
  })

  test('use every picture, and no picture is too large', () => {
    const texts = [...list('docs/**/*.md'), 'README.md'].map(read).join('\n')
    for (const name of readdirSync(join(ROOT, 'docs/pictures'))) {
      expect([name, texts.includes(`pictures/${name}`)]).toEqual([name, true])
      expect(statSync(join(ROOT, 'docs/pictures', name)).size).toBeLessThan(MAX_PICTURE_BYTES)
    }
  })
})

test.each(list('*.md'))('%s links only to files that exist', (path) => {
  const source = read(path)
  const links = [...source.matchAll(/\]\(([^)\s]+)\)|\b(?:src|srcset|href)="([^"]+)"/g)].map(([, a, b]) => a ?? b ?? '')
  for (const link of links.filter((link) => !link.startsWith('https://'))) {
    const [file = '', anchor] = link.split('#')
    expect([link, existsSync(join(ROOT, file || path))]).toEqual([link, true])
    if (anchor === undefined || !file.startsWith('docs/')) continue
    expect([link, anchorsByAddress.get(`/${file.replace(/\.md$/, '')}`)?.has(anchor)]).toEqual([link, true])
  }
})

test('links from the API reference to the documents have existing targets', () => {
  const links = [...read('docs/openapi.json').matchAll(/\]\((\/docs[^)]*)\)/g)].map(([, link = '']) => link)
  expect(links.map((link) => problemOf(link)).filter(Boolean)).toEqual([])
})

test('all files in docs/ that are mentioned anywhere exist', () => {
  const sources = list('{src,test,bench,migrations}/**/*.{ts,tsx,tpl}').concat(list('{docs/**/*,*}.md'), 'build.ts')
  const missing = sources.flatMap((path) =>
    [...read(path).matchAll(/(?<![\w./-])docs\/[\w/-]+\.(?:md|png|json)\b/g)]
      .map(([file]) => file)
      .filter((file) => !existsSync(join(ROOT, file)))
      .map((file) => `${path}: ${file}`),
  )
  expect(missing).toEqual([])
})

test('all source files that the documents mention exist', () => {
  const missing = [...list('docs/**/*.md'), ...list('*.md')].flatMap((path) =>
    [...read(path).matchAll(/(?:`|\.\/run )([\w-][\w.-]*\/[\w./-]+\.tsx?)\b/g)]
      .map(([, file = '']) => file)
      .filter((file) => !existsSync(join(ROOT, file)) && !existsSync(join(ROOT, 'src', file)))
      // In the document about `src/web`, paths are relative to that folder.
      .filter((file) => path !== 'docs/develop/dashboard.md' || !existsSync(join(ROOT, 'src/web', file)))
      .map((file) => `${path}: ${file}`),
  )
  expect(missing).toEqual([])
})
