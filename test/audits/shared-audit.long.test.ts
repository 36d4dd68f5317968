import { afterAll, expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DAY_MS } from '../../src/core/clock.ts'
import { startBrowser } from '../browser/chromium.ts'
import { installedChromium } from '../browser/installed-chromium.ts'
import { FAULTS } from '../browser/page-defects.ts'
import { testApp } from '../test-app.ts'

/** Folder to which screenshots are saved for visual checks; none by default. */
const PICTURES = process.env.SHARE_PICTURES

const html = (title: string, body: string) =>
  new Response(`<!doctype html><title>${title}</title>${body}`, { headers: { 'content-type': 'text/html' } })
const beacon = (event: string, more = '') =>
  `navigator.sendBeacon('https://www.google-analytics.com/g/collect?v=2&tid=G-1&en=${event}&ep.x=1${more}')`

/** A shop with every kind of fault that an audit can find. */
const site = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch(request) {
    const { pathname } = new URL(request.url)
    const links = ['/thanks', '/twice', '/broken', '/gone', '/mail'].map((path) => `<a href="${path}">x</a>`).join('')
    if (pathname === '/') return html('Shop', `<script>${beacon('page_view')}</script>${links}`)
    if (pathname === '/thanks') return html('Thank you', '')
    if (pathname === '/twice') return html('Twice', `<script>${beacon('view')};${beacon('view')}</script>`)
    if (pathname === '/broken') return html('Broken', '<script>coupon.use()</script>')
    if (pathname === '/mail') return html('Hello jane.doe@shop.example &lt;b&gt;bold&lt;/b&gt;', '')
    return new Response('', { status: 404, headers: { 'content-type': 'text/html' } })
  },
})
afterAll(() => site.stop(true))
const ORIGIN = `http://127.0.0.1:${site.port}`

test('a shared audit shows only its page findings to anyone with the link', async () => {
  await using world = await testApp({ chromium: await installedChromium(), outboundAllow: '127.0.0.1' })
  const made = await world.call('POST', '/v1/audits', {
    body: {
      name: 'Shop, weekly',
      startUrls: [`${ORIGIN}/`],
      delayMs: 0,
      settleMs: 100,
      expect: [{ path: '/thanks$', vendor: 'Google Analytics 4', event: 'purchase' }],
    },
  })
  expect(made.status).toBe(201)
  await world.app.idle()
  const { body: audit } = await world.call('GET', `/v1/audits/${made.body.id}`)
  expect(audit).toMatchObject({
    status: 'finished',
    // A page that returns 404 is not counted as a script error.
    summary: { pagesFailed: 1, missing: 1, duplicates: 1, errors: 1 },
  })

  const share = async (body: object) => world.call('POST', `/v1/audits/${made.body.id}/share`, { body })
  const { status, body: shared } = await share({ expiresInDays: 7 })
  expect(status).toBe(200)
  const { pathname } = new URL(shared.url)
  const open = () => world.app.fetch(new Request(`http://localhost${pathname}`))
  const answer = await open()
  expect(answer.status).toBe(200)
  const text = await answer.text()
  for (const part of [
    '<h1>Shop, weekly</h1>',
    '/thanks',
    '/twice',
    '/gone',
    'purchase',
    'page_view',
    'coupon is not defined',
    'Thank you',
    'j***@s***.example',
    '&lt;b&gt;bold',
    '404',
  ]) {
    expect(text).toContain(part)
  }
  expect(text).not.toMatch(/<script|jane\.doe|<b>bold|\b(?:org|usr|run|aud|dom)_[\w-]{20,}/)
  expect(text).not.toContain(pathname.split('/').at(-1) ?? '')

  const shown = [...text.matchAll(/<h3>[^<]*(\/\w*)<\/h3><span class="pill (\w+)">/g)].map(
    ([, path, tone]) => `${path} ${tone}`,
  )
  expect(shown.slice(0, 1)).toEqual(['/gone bad'])
  expect(shown.slice(1, 4).toSorted()).toEqual(['/broken warn', '/thanks warn', '/twice warn'])
  expect(shown.slice(4)).toEqual(['/ good', '/mail good'])

  await using chromium = await startBrowser()
  await using server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => world.app.fetch(request) })
  const page = await chromium.browser.newPage()
  for (const width of [360, 1280]) {
    await page.setViewport({ width, height: 900 })
    await page.goto(`http://127.0.0.1:${server.port}${pathname}`)
    expect({ width, faults: await page.evaluate(FAULTS) }).toMatchObject({ faults: [] })
    if (!PICTURES) continue
    mkdirSync(PICTURES, { recursive: true })
    await page.screenshot({ path: join(PICTURES, `real-audit-${width}.png`), fullPage: true })
  }

  expect((await share({ revoke: true })).status).toBe(200)
  expect((await open()).status).toBe(404)
  const { body: again } = await share({ expiresInDays: 1 })
  const path = new URL(again.url).pathname
  world.clock.advance(DAY_MS + 1)
  expect((await world.app.fetch(new Request(`http://localhost${path}`))).status).toBe(404)
})
