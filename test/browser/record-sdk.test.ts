import { expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { recordSdk } from '../record-sdk.ts'
import { temporaryFolder } from '../run-program.ts'

/**
 * Imitates an SDK: loads its settings, sends data through every browser API, and sends the rest when the page closes.
 */
const SDK = `
export async function run() {
  const host = 'https://collect.vendor.example'
  const settings = await (await fetch(host + '/settings.json')).json()
  new Image().src = host + '/i.gif?account=' + settings.account
  navigator.sendBeacon(host + '/beacon', new Blob(['{"a":1}'], { type: 'text/plain' }))
  const packed = new Response('packed').body.pipeThrough(new CompressionStream('gzip'))
  const body = await new Response(packed).arrayBuffer()
  await fetch(host + '/packed', { method: 'POST', body, headers: { 'X-Key': 'k' } })
  await fetch('/api/cart')
  addEventListener('pagehide', () => navigator.sendBeacon(host + '/rest', 'bye'))
}`

test('an SDK runs on a page, and its requests are recorded', async () => {
  using folder = temporaryFolder()
  const sdk = join(folder.path, 'node_modules/vendor-sdk')
  mkdirSync(sdk, { recursive: true })
  writeFileSync(join(sdk, 'package.json'), '{"name": "vendor-sdk", "type": "module", "main": "index.js"}')
  writeFileSync(join(sdk, 'index.js'), SDK)
  const snippet = join(folder.path, 'snippet.js')
  writeFileSync(snippet, "import { run } from 'vendor-sdk'\nawait run()\n")
  const settings = { body: Buffer.from('{"account":"7"}'), type: 'application/json' }
  const answers = new Map([['https://collect.vendor.example/settings', settings]])

  const { log } = await recordSdk({ folder: folder.path, snippet, answers, quietMs: 500 })

  const sent = log.entries.map(({ request }) => request)
  const line = ({ method, url }: { method: string; url: string }) => `${method} ${url}`
  expect(sent.map(line).sort()).toEqual([
    'GET https://collect.vendor.example/i.gif?account=7',
    'GET https://collect.vendor.example/settings.json',
    'GET https://shop.example/api/cart',
    'POST https://collect.vendor.example/beacon',
    'POST https://collect.vendor.example/packed',
    'POST https://collect.vendor.example/rest',
  ])
  const bodyOf = (path: string) => sent.find(({ url }) => url.endsWith(path))?.postData
  expect(bodyOf('/beacon')).toEqual({ mimeType: 'text/plain', text: '{"a":1}' })
  expect(bodyOf('/rest')?.text).toBe('bye')
  const packed = bodyOf('/packed')
  expect(packed?.encoding).toBe('base64')
  expect(new TextDecoder().decode(Bun.gunzipSync(Buffer.from(packed?.text ?? '', 'base64')))).toBe('packed')
})
