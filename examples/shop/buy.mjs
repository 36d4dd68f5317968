import { withHar } from '../har/puppeteer.mjs'

/**
 * The test of the shop: buys a shirt, and records what the tags send.
 *
 * @param {import('puppeteer-core').Browser} browser
 * @param {string} url URL of the release
 * @param {string} har path of the recording
 */
export async function buy(browser, url, har) {
  await withHar(browser, har, async () => {
    const page = await browser.newPage()
    await page.goto(url, { waitUntil: 'networkidle0' })
    for (const link of ['/cart', '/thanks']) {
      await Promise.all([page.waitForNavigation({ waitUntil: 'networkidle0' }), page.click(`a[href="${link}"]`)])
    }
    await page.close()
  })
}
