import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PAGE_PATHS } from '../../src/contract/page-paths.ts'

const PAGES = join(import.meta.dir, '../../src/web/pages')

test('a page is a path, a value and a view: no other file lists it', () => {
  const files = [...new Bun.Glob('**/*.{ts,tsx}').scanSync(PAGES)]
  const texts = new Map(files.map((file) => [file, readFileSync(join(PAGES, file), 'utf8')]))
  const views = files.filter((file) => /-pages?\.tsx$/.test(file))
  expect(views.length).toBeGreaterThan(45)
  for (const view of views) {
    const [area = '', ...rest] = view.split('/')
    const importers = files.filter((file) => texts.get(file)?.includes(`/${rest.at(-1)}'`))
    expect([view, importers]).toEqual([view, [`${area}/pages.ts`]])
  }
  expect([...new Set(views.map((view) => view.split('/')[0] ?? ''))].sort()).toEqual(Object.keys(PAGE_PATHS).sort())
})
