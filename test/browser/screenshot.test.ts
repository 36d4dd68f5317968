import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'puppeteer-core'
import type { Browsing } from '../../src/browser/browsing.ts'
import { screenshotOf } from '../../src/browser/screenshot.ts'
import type { Privacy } from '../../src/conditions/privacy-settings.ts'
import { browse } from './browse.ts'

const SECRET = 'Open-Sesame'
const html = (body: string) =>
  new Response(`<!doctype html><title>x</title><body style="margin:0;font:20px sans-serif">${body}`, {
    headers: { 'content-type': 'text/html' },
  })
const place = (top: number, more = '') =>
  `style="position:absolute;left:0;top:${top}px;width:300px;height:40px;${more}"`

/** Elements that show the secret, 50 px apart. */
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

/** Elements that show personal data, or a secret whose digits are grouped. */
const PERSONAL = [
  `<div ${place(0)}>ann.miller@mail.example.com</div>`,
  `<div ${place(50)}><i>ann.miller</i>@<b>mail</b>.example.com</div>`,
  `<input value="ann.miller@mail.example.com" ${place(100)}>`,
  `<div ${place(150)}>4929 1234 8888 7777</div>`,
  `<div ${place(200)}><span>4929</span> <span>1234-</span><span style="display:inline-block">8888</span>7777</div>`,
  `<div ${place(250)}>DE89 3704 0044 0532 0130 00</div>`,
  `<div ${place(300)}>+49 30 901820 00</div>`,
  `<select ${place(350)}><option>x<option selected>ann@mail.example.com</select>`,
  `<style>#gen::after { content: attr(data-mail) }</style><div id=gen data-mail="ann@mail.example.com" ${place(400)}></div>`,
  `<div ${place(450)}>KD-00471199</div>`,
  `<div ${place(500, 'display:flex')}>${['4929', '1234', '8888', '7777'].map((part) => `<input value=${part} style="width:40px">`).join('')}</div>`,
  `<iframe ${place(550, 'border:0')} srcdoc="<body style='margin:0;font:20px sans-serif'>ann@mail.example.com"></iframe>`,
  `<div ${place(600)}>ann.miller%40mail.example.com</div>`,
  `<textarea ${place(650)}>+49 30 901820 00 is my number</textarea>`,
]
const SECRET_NUMBER = '4929-1234-8888-7777'
const PLAIN = ['Blue shirt, 19.90', '2026-01-05 12:00', 'Order 17', '4929 1234', 'W 1280 x 800']

const site = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch(request) {
    const { pathname, port } = new URL(request.url)
    if (pathname === '/frame') return html(SECRET)
    if (pathname === '/personal') return html(PERSONAL.join(''))
    if (pathname === '/plain') return html(PLAIN.map((text, at) => `<div ${place(at * 50)}>${text}</div>`).join(''))
    if (pathname === '/moving') {
      return html(`<div id=m ${place(0)}>ann@mail.example.com</div>
        <script>let x = 0; setInterval(() => { m.style.left = (x = (x + 7) % 300) + 'px' }, 1)</script>`)
    }
    if (pathname === '/hang') return html(`<script>setTimeout(() => { console.log('hangs'); for (;;); })</script>`)
    return html(SHOWN.join('').replace('PORT', port))
  },
})

const privacy: Privacy = { regions: [], patterns: [{ name: 'customer', pattern: 'KD-\\d{8}' }] }

let browsing: Browsing
beforeAll(async () => {
  browsing = await browse({ secrets: [SECRET, SECRET_NUMBER], privacy })
})
afterAll(async () => {
  await browsing?.[Symbol.asyncDispose]()
  await site.stop(true)
})

/** Returns the share of black pixels in the text area of each element. */
async function blackShares(page: Page, png: Uint8Array, places = SHOWN.length): Promise<number[]> {
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
  return page.evaluate(count, Buffer.from(png).toString('base64'), places)
}

test('secrets are blacked out in the screenshot and unchanged on the page', async () => {
  const { page } = browsing
  await page.goto(`http://127.0.0.1:${site.port}/`)
  const covered = await blackShares(page, await browsing.screenshot(page))
  expect(covered).toEqual(SHOWN.map(() => 1))
  const bare = await blackShares(page, await screenshotOf(page, () => []))
  expect(bare.every((share) => share < 0.9)).toBe(true)
})

test('personal data and secrets split into groups are blacked out', async () => {
  const { page } = browsing
  await page.goto(`http://127.0.0.1:${site.port}/personal`)
  const covered = await blackShares(page, await browsing.screenshot(page), PERSONAL.length)
  expect(covered.map((share) => share > 0.75)).toEqual(PERSONAL.map(() => true))
  const bare = await blackShares(page, await screenshotOf(page, () => []), PERSONAL.length)
  expect(bare.every((share) => share < 0.5)).toBe(true)
})

test('text that is not confidential is shown', async () => {
  const { page } = browsing
  await page.goto(`http://127.0.0.1:${site.port}/plain`)
  const covered = await browsing.screenshot(page)
  expect(covered).toEqual(await screenshotOf(page, () => []))
})

test("no screenshot is taken of a page that can't be searched for personal data", async () => {
  const { page } = browsing
  await page.goto(`http://127.0.0.1:${site.port}/plain`)
  const fails = () => {
    throw new Error('failed to find personal data')
  }
  expect(await screenshotOf(page, fails).catch(String)).toContain('keeps moving')
})

test('no screenshot is taken while personal data moves on the page', async () => {
  const page = await browsing.browser.newPage()
  await page.goto(`http://moving.test:${site.port}/moving`)
  expect(await browsing.screenshot(page).catch(String)).toContain('keeps moving')
  await page.close()
})

test('a page that hangs affects only its own screenshot', async () => {
  const page = await browsing.browser.newPage()
  const hangs = new Promise((resolve) => page.once('console', resolve))
  page.goto(`http://hang.test:${site.port}/hang`).catch(() => undefined)
  await hangs
  expect(await screenshotOf(page, () => [], 1000).catch(String)).toContain('because the page hangs')
  expect((await browsing.screenshot(browsing.page)).length).toBeGreaterThan(1000)
})
