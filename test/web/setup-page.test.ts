import { describe, expect, test } from 'bun:test'
import { SYSTEMS } from '../../src/domains/domain.ts'
import { until } from '../run-program.ts'
import { named } from './screen.ts'
import { openAs, sharedTestServer } from './test-server.ts'

/* Tests that the set-up page shows the code, the steps and the sampling for each platform. */

const here = sharedTestServer()
let domains = 0
const code = () => here.screen.page.$eval('textarea', ({ value }) => value)

async function openSetup(system: string, role: 'admin' | 'member' = 'admin') {
  const { app } = here.server
  const { body: domain } = await app.call('POST', '/v1/domains', { body: { name: `shop-${++domains}`, system } })
  const { body: snippet } = await app.call('GET', `/v1/domains/${domain.id}/snippet`)
  await openAs(
    here.screen,
    role === 'admin' ? app.owner.apiKey : here.server.keyOf(role),
    `/domains/${domain.id}/setup`,
  )
  await here.screen.sees('heading', 'Sampling')
  return { guide: snippet.guide as { files: { name: string; label: string; code: string }[]; steps: string[] } }
}

describe('the set-up page', () => {
  test.each(SYSTEMS)('for %s shows the steps and code of the guide', async (system) => {
    const { screen } = here
    const { guide } = await openSetup(system)
    const steps = await screen.page.$$eval('main ol > li', (items) => items.map(({ textContent }) => textContent))
    expect(steps).toEqual(guide.steps)
    for (const file of guide.files) {
      if (guide.files.length > 1) {
        // The radio button is invisible, so users click its label.
        await screen.page.evaluate((name) => {
          const radio = [...document.querySelectorAll('input')].find(({ value }) => value === name)
          radio?.labels?.[0]?.click()
        }, file.name)
      }
      await until(file.name, async () => (await code()) === file.code)
      await screen.press('Copy the code')
      await screen.reads('Code copied.')
    }
    const isApp = system === 'mobile_a' || system === 'mobile_b'
    expect(await screen.has('combobox', 'Devices that send events in production')).toBe(isApp)
  })

  test('writes the selected percentage of devices into the code', async () => {
    const { page } = here.screen
    await openSetup('mobile_a')
    expect(await code()).toContain('mapOf("prod" to 1.0, "dev" to 1.0)')
    const share = await page.waitForSelector(named('combobox', 'Devices that send events in production'))
    await share?.select('0.1')
    await here.screen.press('Save rates')
    await until('the share', async () => (await code()).includes('mapOf("prod" to 0.1, "dev" to 1.0)'))
  })

  test('has capture settings, except for servers', async () => {
    const { screen } = here
    for (const [system, isShown] of [
      ['server', false],
      ['mobile_b', true],
    ] as const) {
      const { body: domain } = await here.server.app.call('POST', '/v1/domains', { body: { name: system, system } })
      await openAs(screen, here.server.app.owner.apiKey, `/domains/${domain.id}/settings`)
      await screen.sees('heading', 'Property token')
      expect(await screen.has('heading', 'Capture')).toBe(isShown)
    }
  })

  test('shows members the code, but no form', async () => {
    await openSetup('mobile_b', 'member')
    expect(await code()).toContain('Bearer \\(token)')
    expect(await here.screen.has('button', 'Save rates')).toBe(false)
  })

  test('lists vendors whose library loads while none of their events is captured', async () => {
    const { app } = here.server
    const { body: domain } = await app.call('POST', '/v1/domains', { body: { name: 'shop.example' } })
    const send = async (...urls: string[]) => {
      const batch = {
        token: domain.token,
        page: { url: 'https://shop.example/' },
        hits: urls.map((url) => ({ url })),
      }
      await app.app.collector.fetch(
        new Request('https://c.example/api/v1/events', { method: 'POST', body: JSON.stringify(batch) }),
      )
    }
    await openAs(here.screen, app.owner.apiKey, `/domains/${domain.id}/setup`)
    await here.screen.sees('button', 'Copy the code')
    expect(await here.screen.page.evaluate(() => document.body.textContent)).not.toContain('Libraries without events')

    await send(
      'https://www.shop.example/ingest/static/array.js',
      'https://www.shop.example/matomo.js',
      'https://www.shop.example/matomo.php?idsite=1&rec=1&url=https://shop.example/',
      'https://www.googletagmanager.com/gtm.js?id=GTM-1',
    )
    await here.screen.page.reload()
    await here.screen.reads('Libraries without events')
    const vendors = await here.screen.page.$$eval('table td:first-child, table th[scope=row]', (cells) =>
      cells.map(({ textContent }) => textContent),
    )
    expect(vendors).toEqual(['PostHog'])
  })
})
