import { expect, test } from 'bun:test'
import { Html, html } from './html.ts'

test('special characters are escaped in content and attributes', () => {
  expect(html`<a title="${`<a href="x" title='y'>&amp;`}">${'<b>'}</a>`.text).toBe(
    '<a title="&lt;a href=&quot;x&quot; title=&#x27;y&#x27;&gt;&amp;amp;">&lt;b&gt;</a>',
  )
})

test('trusted HTML is inserted unchanged, lists are joined, and null and false are omitted', () => {
  expect(html`${new Html('<br>')}${[html`<b>${1}</b>`, 'a', ['<', null]]}${null}${false}${0}`.text).toBe(
    '<br><b>1</b>a&lt;0',
  )
})
