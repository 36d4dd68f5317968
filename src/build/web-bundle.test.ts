import { expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { temporaryFolder } from '../../test/run-program.ts'
import { PAGE_PATHS, type PageArea } from '../contract/page-paths.ts'
import { buildPages, buildWeb, withoutUnusedStyles } from './web-bundle.ts'

/** A typical application: two pages, styles, and shared and dynamically imported modules. */
const SOURCES: Record<string, string> = {
  'a.html':
    '<!doctype html><title>A</title><link rel="stylesheet" href="./a.css"><script type="module" src="./a.tsx"></script>',
  'b.html': '<!doctype html><title>B</title><script type="module" src="./b.ts"></script>',
  'a.css': '@import "./shared.css"; .mark { background: url(./mark.png) }',
  'shared.css': '.shared { color: teal }',
  'a.tsx': `import { shared } from './shared.ts'; const later = import(/* not now */ './later.ts'); console.log(shared, later)`,
  'b.ts': `import { shared } from './shared.ts'; const later = import(/* not now */ './later.ts'); console.log(shared, later, 'b')`,
  'later.ts': `import { shared } from './shared.ts'; export const later: string = 'LATER' + shared`,
  'shared.ts': `export const shared: string = 'SHARED'`,
}
// Too large to be inlined in the style sheet.
const PICTURE = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(200_000, 7)])

async function build(folder: string, change: Record<string, string> = {}) {
  for (const [name, text] of Object.entries({ ...SOURCES, ...change })) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  writeFileSync(join(folder, 'mark.png'), PICTURE)
  return buildWeb(['a.html', 'b.html'].map((name) => join(folder, name)))
}

const text = (file: { body: Uint8Array } | undefined) => Buffer.from(file?.body ?? '').toString()

/** Returns the names of the assets to which a file refers. */
const named = (content: string) => [...content.matchAll(/["'(](?:\/assets\/|\.\/)([\w.-]+)["')]/g)].map(([, n]) => n)

test('a bundle contains pages, styles, images and dynamic imports, without source maps or sources', async () => {
  using folder = temporaryFolder()
  const { pages, assets } = await build(join(folder.path, 'one'))
  expect(Object.keys(pages).sort()).toEqual(['a.html', 'b.html'])
  const names = Object.keys(assets)
  for (const name of names) expect(name).toMatch(/^[\w-]+-[\da-z]{8}\.(?:js|css|png)$/)
  const scripts = names.filter((name) => name.endsWith('.js'))
  // The two pages, the shared module and the dynamic import.
  expect(scripts.length).toBeGreaterThanOrEqual(4)
  expect(scripts.filter((name) => text(assets[name]).includes('LATER'))).toHaveLength(1)
  expect(scripts.filter((name) => text(assets[name]).includes('"SHARED"'))).toHaveLength(1)
  expect(names.filter((name) => name.endsWith('.css')).map((name) => text(assets[name]))).toEqual([
    expect.stringMatching(/\.shared.*\.mark/s),
  ])
  expect(names.find((name) => name.endsWith('.png'))).toBeString()
  expect(JSON.stringify([...Object.values(pages), ...Object.values(assets)].map(text))).not.toContain('sourceMapping')
})

test('every file that a file references exists at the path where it is served', async () => {
  using folder = temporaryFolder()
  const { pages, assets } = await build(join(folder.path, 'one'))
  for (const file of [...Object.values(pages), ...Object.values(assets)]) {
    for (const name of named(text(file))) expect(Object.keys(assets)).toContain(name ?? '')
  }
  expect(named(text(pages['a.html'])).length).toBe(3)
})

test('a file name changes with the content of the file and of the files it loads', async () => {
  using folder = temporaryFolder()
  const one = await build(join(folder.path, 'one'))
  const changed = await build(join(folder.path, 'one'), {
    'later.ts': SOURCES['later.ts']?.replace('LATER', 'LATE') ?? '',
  })
  const kept = Object.keys(one.assets).filter((name) => name in changed.assets)
  for (const name of kept) expect(text(changed.assets[name])).toBe(text(one.assets[name]))
  expect(kept.some((name) => /\.(?:css|png)$/.test(name))).toBe(true)
  expect(kept.filter((name) => text(one.assets[name]).includes('later-'))).toEqual([])
})

test('a build fails if its sources do not compile', async () => {
  using folder = temporaryFolder()
  await expect(build(join(folder.path, 'bad'), { 'a.tsx': 'import {' })).rejects.toThrow()
})

test('the views of each area are bundled separately from the main script', async () => {
  const { areas } = await buildPages()
  expect(Object.keys(areas).sort()).toEqual(Object.keys(PAGE_PATHS).sort())
})

test('the views of an area are one script, which contains everything that they import', async () => {
  using folder = temporaryFolder()
  const { areas, assets, pages } = await build(folder.path, {
    'a.tsx': `import { pages } from './web/pages/shop/pages.ts'; void pages[0]?.()`,
    'web/pages/shop/pages.ts': `export const pages = [() => import(/* lazy */ './cart-page.tsx'), () => import(/* lazy */ './thanks/paid-page.tsx')]`,
    'web/pages/shop/cart-page.tsx': `export const Cart = () => console.log('CART')`,
    'web/pages/shop/thanks/paid-page.tsx': `import { text } from '../text.ts'; export const Paid = () => console.log(text)`,
    'web/pages/shop/text.ts': `export const text = 'PAID'`,
  })
  const [views = '', ...others] = areas['shop' as PageArea] ?? []
  expect(others).toEqual([])
  expect(text(assets[views])).toMatch(/CART.*PAID/s)
  expect(
    named(text(pages['a.html']))
      .map((name) => text(assets[name ?? '']))
      .join(),
  ).not.toMatch(/CART|PAID/)
})

test('pages are small, except those of the documentation', async () => {
  const { pages } = await buildPages()
  const others = Object.entries(pages).filter(([name]) => !name.startsWith('docs/'))
  for (const [, file] of others) expect(file.body.length).toBeLessThan(10_000)
})

test.each([
  ['a class named in a script is kept', '.m_aaaaaaaa{color:red}', '.m_aaaaaaaa{color:red}'],
  ['a class named in no script is removed', '.m_bbbbbbbb{color:red}', ''],
  ['both parts of a selector are required', '.m_aaaaaaaa .m_bbbbbbbb{color:red}', ''],
  ['an excluded class is not required', '.own:not(.m_bbbbbbbb){color:red}', '.own:not(.m_bbbbbbbb){color:red}'],
  ['one of several selectors is enough', '.m_bbbbbbbb,.own{color:red}', '.m_bbbbbbbb,.own{color:red}'],
  ['rules of other files are kept', 'h1:before{content:"}.m_bbbbbbbb{"}', 'h1:before{content:"}.m_bbbbbbbb{"}'],
  ['a condition without rules is removed', '@media print{.m_bbbbbbbb{color:red}}', ''],
  ['animations are kept', '@keyframes m_cccccccc{0%{color:red}}', '@keyframes m_cccccccc{0%{color:red}}'],
  ['logical properties are not replaced', '.own{inset-inline-end:1px}', '.own{inset-inline-end:1px}'],
])('unused CSS rules are removed: %s', (_name, css, kept) => {
  expect(withoutUnusedStyles(css, '{root:"m_aaaaaaaa"}')).toBe(kept)
})
