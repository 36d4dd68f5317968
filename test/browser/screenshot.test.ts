import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { Page } from 'puppeteer-core'
import type { Browsing } from '../../src/browser/browsing.ts'
import { screenshotOf } from '../../src/browser/screenshot.ts'
import { browse } from './browsing.ts'

setDefaultTimeout(60_000)

const SECRET = 'Open-Sesame'
const html = (body: string) =>
  new Response(`<!doctype html><title>x</title><body style="margin:0;font:20px sans-serif">${body}`, {
    headers: { 'content-type': 'text/html' },
  })
const place = (top: number, more = '') =>
  `style="position:absolute;left:0;top:${top}px;width:300px;height:40px;${more}"`

/** What shows the secret, 50 pixels below another. */
const SHOWN = [
  `<input value="${SECRET}" ${place(0)}>`,
  `<textarea ${place(50)}>${SECRET}</textarea>`,
  `<div ${place(100)}>Open-<b>Ses</b>ame</div>`,
  `<div ${place(150)} id=host></div><script>
    host.attachShadow({ mode: 'open' }).innerHTML = '<p style="margin:0">${SECRET}</p>'</script>`,
  `<iframe ${place(200, 'border:0')} srcdoc="<body style='margin:0;font:20px sans-serif'>${SECRET}"></iframe>`,
  `<iframe ${place(250, 'border:0')} src="http://other.test:PORT/frame"></iframe>`,
  `<input placeholder="${SECRET}" ${place(300)}>`,
  `<div ${place(350)}>${encodeURIComponent(`${SECRET}`)}</div>`,
]

const site = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch(request) {
    const { pathname, port } = new URL(request.url)
    if (pathname === '/frame') return html(SECRET)
    if (pathname === '/hang') return html(`<script>setTimeout(() => { console.log('hangs'); for (;;); })</script>`)
    return html(SHOWN.join('').replace('PORT', port))
  },
})

let browsing: Browsing
beforeAll(async () => {
  browsing = await browse({ secrets: [SECRET] })
})
afterAll(async () => {
  await browsing?.[Symbol.asyncDispose]()
  await site.stop(true)
})

/** How many pixels in each of the places are black, as a share of the 80 by 12 in the middle of the text. */
async function blackShares(page: Page, png: Uint8Array): Promise<number[]> {
  const count = async (data: string, places: number) => {
    const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${data}`)).blob())
    const canvas = new OffscreenCanvas(image.width, image.height)
    const context = canvas.getContext('2d')
    if (!context) throw new Error('no canvas')
    context.drawImage(image, 0, 0)
    return Array.from({ length: places }, (_, index) => {
      const { data: rgba } = context.getImageData(10, index * 50 + 6, 60, 10)
      let black = 0
      for (let at = 0; at < rgba.length; at += 4)
        if ((rgba[at] ?? 0) + (rgba[at + 1] ?? 0) + (rgba[at + 2] ?? 0) === 0) black++
      return black / (rgba.length / 4)
    })
  }
  return page.evaluate(count, Buffer.from(png).toString('base64'), SHOWN.length)
}

test('what shows a secret is black, and as before afterwards', async () => {
  const { page } = browsing
  await page.goto(`http://127.0.0.1:${site.port}/`)
  const covered = await blackShares(page, await browsing.screenshot(page))
  expect(covered).toEqual(SHOWN.map(() => 1))
  const bare = await blackShares(page, await screenshotOf(page, []))
  expect(bare.every((share) => share < 0.9)).toBe(true)
})

test('a page that hangs costs its own picture only', async () => {
  const page = await browsing.browser.newPage()
  const hangs = new Promise((resolve) => page.once('console', resolve))
  page.goto(`http://hang.test:${site.port}/hang`).catch(() => undefined)
  await hangs
  expect(await screenshotOf(page, [SECRET], 1000).catch(String)).toContain('The page hangs')
  expect((await browsing.screenshot(browsing.page)).length).toBeGreaterThan(1000)
})
