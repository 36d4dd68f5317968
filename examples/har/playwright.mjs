/**
 * Playwright records HARs itself. Runs `work` in a context whose requests are written to a HAR file when it closes.
 * Bodies of responses are left out, because the gate does not read them.
 *
 *     await withHar(browser, 'checkout.har', async (context) => {
 *       const page = await context.newPage()
 *       await page.goto('https://preview.shop.example/')
 *     })
 *
 * With Playwright Test, set the same option in the configuration:
 *
 *     use: { contextOptions: { recordHar: { path: 'checkout.har', content: 'omit' } } }
 *
 * @param {import('playwright-core').Browser} browser
 * @param {string} path
 * @param {(context: import('playwright-core').BrowserContext) => Promise<unknown>} work
 */
export async function withHar(browser, path, work) {
  const context = await browser.newContext({ recordHar: { path, content: 'omit' }, serviceWorkers: 'block' })
  try {
    await work(context)
  } finally {
    await context.close()
  }
}
