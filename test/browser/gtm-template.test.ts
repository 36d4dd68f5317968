import { afterAll, beforeAll, expect, test } from 'bun:test'
import { until } from '../run-program.ts'
import { type CaptureSite, captureSite, SITE_HOSTS } from './capture-site.ts'
import { startBrowser, type TestBrowser } from './chromium.ts'

let site: CaptureSite
let chromium: TestBrowser

beforeAll(async () => {
  site = await captureSite()
  chromium = await startBrowser([SITE_HOSTS])
})
afterAll(async () => {
  await chromium[Symbol.asyncDispose]()
  await site[Symbol.asyncDispose]()
})

/** Returns the template's JavaScript code. */
const code = () => /___SANDBOXED_JS_FOR_WEB_TEMPLATE___\n([\s\S]*?)\n___/.exec(site.snippet.template)?.[1] ?? ''

/**
 * Runs the template in an imitation of the Google Tag Manager sandbox, with its documented functions:
 * https://developers.google.com/tag-platform/tag-manager/templates/api
 */
const sandbox = (data: object) => `<script>
  const container = { containerId: 'GTM-SHOP', version: '13', debugMode: false, previewMode: false }
  const dataLayer = [{ event: 'purchase' }]
  const callbacks = []
  const apis = {
    addEventCallback: (callback) => void callbacks.push(callback),
    copyFromDataLayer: (key) => dataLayer.at(-1)[key],
    copyFromWindow: (path) => path.split('.').reduce((value, key) => value?.[key], window),
    createArgumentsQueue(name, queue) {
      window[queue] ??= []
      window[name] ??= function () { window[queue].push(arguments) }
      return window[name]
    },
    getContainerVersion: () => container,
    getUrl: (part) => ({ host: location.hostname })[part],
    injectScript(src, onload, onerror) {
      document.head.append(Object.assign(document.createElement('script'), { src, onload, onerror }))
    },
    makeString: String,
  }
  const ended = new Promise((resolve) => {
    const ends = { gtmOnSuccess: () => resolve('success'), gtmOnFailure: () => resolve('failure') }
    new Function('require', 'data', ${JSON.stringify(code()).replaceAll('<', String.raw`\u003c`)})(
      (name) => apis[name], { ...${JSON.stringify(data)}, ...ends })
  })
</script>`

test.each([
  ['with the head snippet', 'HEAD'],
  ['alone', ''],
])('the template %s stores tag results with their reported parameters', async (what, head) => {
  const name = `template-${head}`
  const page = await chromium.browser.newPage()
  const html = `<!doctype html><html><head>${head}${sandbox({ scriptUrl: site.snippet.scriptUrl, selectedTags: '12,15' })}<title>Shop</title></head><body></body></html>`
  await page.goto(site.page(name, html))
  expect(await page.evaluate('ended')).toBe('success')
  await page.waitForFunction(`Symbol.for('tagwarden.installed') in window`)
  await page.evaluate(`for (const callback of callbacks) callback('GTM-SHOP', { tags: [
    { id: '12', name: 'Purchase', status: 'success', executionTime: 31, 'Order ID': 'A-17', total: 19.5, isNew: false },
    { id: '15', name: 'Lead', status: 'timeout', executionTime: 2000 },
    { id: '16', name: 'Not selected', status: 'success', executionTime: 1 },
    { id: '20', status: 'success', executionTime: 1, exclude: 'true' },
  ] })`)
  await page.close()
  const tags = await until(`the tags ${what}`, async () => {
    const found = (await site.events()).filter(({ kind, path }) => kind === 'tag' && path === `/${name}`)
    return found.length === 2 && found
  })
  const shared = { vendor: 'Google Tag Manager', account: 'GTM-SHOP', event: 'purchase', version: 13 }
  expect(tags).toMatchObject([
    {
      ...shared,
      status: 'ok',
      execMs: 31,
      params: { tagId: '12', name: 'Purchase', 'Order ID': 'A-17', total: '19.5', isNew: 'false' },
    },
    { ...shared, status: 'timeout', execMs: 2000, params: { tagId: '15', name: 'Lead' } },
  ])
  expect(Object.keys(tags[0]?.params ?? {})).not.toContain('status')
})
