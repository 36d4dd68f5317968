import { expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../../test/run-program.ts'
import { fillShell, renderDocs } from './docs-pages.ts'

function rendered(alerts: string) {
  using folder = temporaryFolder()
  for (const name of ['use', 'pictures']) mkdirSync(join(folder.path, name))
  writeFileSync(join(folder.path, 'README.md'), '# Docs\n\nIntro\n\n## Use\n\n- [Alerts](use/alerts.md): rules\n')
  writeFileSync(join(folder.path, 'use/alerts.md'), alerts)
  writeFileSync(join(folder.path, 'pictures/run.png'), 'a picture')
  const { pages, pictures } = renderDocs(folder.path, '/assets/')
  const page = pages.find(({ path }) => path === 'docs/use/alerts')
  if (!page) throw new Error('the document was not rendered')
  return { page, pages, pictures }
}

test('links point to URLs on the server', () => {
  const { page, pictures } = rendered(
    [
      '# Alerts & more',
      '[index](../README.md) [labels](labels.md#make-one) [below](#rules) [self](alerts.md#rules)',
      '[api](../openapi.json) [out](https://example.com/a.md) ![run](../pictures/run.png)',
    ].join('\n\n'),
  )
  const [picture = ''] = pictures.keys()
  expect(picture).toMatch(/^run-[\da-z]{8}\.png$/)
  expect(page.links).toEqual([
    '/docs/index',
    '/docs/use/labels#make-one',
    '#rules',
    '#rules',
    '/openapi.json',
    'https://example.com/a.md',
    `/assets/${picture}`,
  ])
  expect(page.title).toBe('Alerts & more')
})

test('headings have the same anchors as on GitHub', () => {
  const { page } = rendered('# Alerts\n\n## Rules, `$event` & limits\n\n## Rules\n\n## Rules\n')
  expect([...page.anchors]).toEqual(['alerts', 'rules-event--limits', 'rules', 'rules-1'])
  expect(page.html).toContain('<h2 id="rules-1">Rules</h2>')
})

test('HTML and script URLs in a document are shown as plain text', () => {
  const { page } = rendered('# Alerts\n\n<script>alert(1)</script> [x](javascript:alert(1))\n')
  expect(page.html).not.toMatch(/<script|href="javascript/)
})

test('the page has the navigation of the index, with the current page marked', () => {
  const { pages } = rendered('# Alerts & more\n\n$& {{title}}\n')
  const html = fillShell('<title>{{title}}</title><nav>{{navigation}}</nav><main>{{content}}</main>', pages)
  expect(html['docs/use/alerts']).toContain('<title>Alerts &amp; more</title>')
  expect(html['docs/use/alerts']).toContain('<li><a href="/docs/use/alerts" aria-current="page">Alerts</a></li>')
  expect(html['docs/use/alerts']).toContain('<p>$&amp; {{title}}</p>')
  expect(html['docs/index']).toContain('<li><a href="/docs/use/alerts">Alerts</a></li>')
})
