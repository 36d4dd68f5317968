import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { LOGO_SHAPES, LOGO_SVG, LOGO_URL } from './logo.ts'

const read = (path: string) => readFileSync(join(import.meta.dir, '../..', path), 'utf8')

test.each(['index.html', 'document.html', 'api-reference.html'])('the icon of %s is the logo', (page) => {
  expect(read(`src/web/${page}`)).toContain(`<link rel="icon" href="${LOGO_URL}">`)
})

test('the documentation shows the logo', () => {
  expect(read('docs/pictures/logo.svg').trim()).toBe(LOGO_SVG)
  expect(read('README.md')).toContain('docs/pictures/logo.svg')
  for (const part of [LOGO_SHAPES.shield, LOGO_SHAPES.check]) expect(read('src/web/document.html')).toContain(part)
})
