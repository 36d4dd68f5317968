import { writeFile } from 'node:fs/promises'
import { recordHar } from './record-har.mjs'

/**
 * Runs `work` and writes all requests of the browser during that time to a HAR file.
 *
 *     const browser = await puppeteer.launch()
 *     await withHar(browser, 'checkout.har', async () => {
 *       const page = await browser.newPage()
 *       await page.goto('https://preview.shop.example/')
 *     })
 *
 * @param {import('puppeteer-core').Browser} browser launched without `pipe: true`
 * @param {string} path
 * @param {() => Promise<unknown>} work
 */
export async function withHar(browser, path, work) {
  const recording = await recordHar(browser.wsEndpoint())
  try {
    await work()
  } finally {
    await writeFile(path, JSON.stringify(await recording.stop()))
  }
}
