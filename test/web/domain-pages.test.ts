import { describe, expect, test } from 'bun:test'
import { until } from '../run-program.ts'
import { axeFindings } from './axe.ts'
import { create, openAs, sharedTestServer } from './test-server.ts'

/* Tests that the pages of a domain follow its events without a reload. */

const here = sharedTestServer()
let count = 0

async function newDomain() {
  const name = `shop-${++count}.example`
  return create(here.server.app, '/v1/domains', { name, monitoredUrls: [`https://${name}/`] })
}

type Sent = { vendor: string; event: string; params?: object }

/** Sends events from a page of the domain, at the present time. */
function send(domain: { token: string; name: string }, events: readonly Sent[]) {
  const { app } = here.server
  app.clock.set(Date.now())
  return app.collect(domain.token, { page: { url: `https://${domain.name}/cart` }, events })
}

const open = (path: string) => openAs(here.screen, here.server.app.owner.apiKey, path)
const rows = () =>
  here.screen.page.$$eval('table[aria-label=Events] tbody tr[data-id]', (all) =>
    all.map((row) => row.textContent ?? ''),
  )
const head = () => here.screen.page.evaluate(() => document.querySelector('main')?.textContent ?? '')

test('the set-up page and its head report the first event together, before it has been counted', async () => {
  const domain = await newDomain()
  await open(`/domains/${domain.id}/setup`)
  await here.screen.reads('Waiting for the first event')
  await until('the stream', () => here.server.streams() > 0)
  await send(domain, [{ vendor: 'Google Analytics 4', event: 'page_view' }])
  await here.screen.reads(`First event: page_view from ${domain.name}`)
  await until('the head', async () => /Active/.test(await head()))
  expect(await head()).not.toMatch(/Waiting|Never|\b0 events in 24 h/)
})

test('the set-up page shows a first event that live capture has missed', async () => {
  const domain = await newDomain()
  const held = here.server.hold(`GET /v1/domains/${domain.id}/live`)
  await open(`/domains/${domain.id}/setup`)
  await here.screen.reads('Waiting for the first event')
  await until('the stream', () => here.server.streams() > 0)
  await send(domain, [{ vendor: 'Google Analytics 4', event: 'page_view' }])
  await here.screen.reads(`First event: page_view from ${domain.name}`)
  held.release()
})

describe('the live page', () => {
  test('begins with stored events, in agreement with its head', async () => {
    const domain = await newDomain()
    await send(domain, [{ vendor: 'Google Analytics 4', event: 'before' }])
    await open(`/domains/${domain.id}/live`)
    await until('the stored event', async () => (await rows()).some((row) => row.includes('before')))
    expect(await head()).toMatch(/Last event just now/)
    expect(await head()).not.toContain('No events in')
  })

  test('opens the parameters of an event and links its violated rules to their alert and issues', async () => {
    const { app } = here.server
    const domain = await newDomain()
    const alert = await create(app, '/v1/alerts', {
      name: 'Purchases have a value',
      alertType: 'data_validation',
      domainId: domain.id,
      vendors: ['Google Analytics 4'],
      conditions: { logic: 'any', items: [{ parameter: 'value', op: 'is_blank' }] },
      period: '1h',
      channels: [{ type: 'email', target: 'owners' }],
      enabled: true,
    })
    await open(`/domains/${domain.id}/live`)
    await here.screen.reads('No events in the last 30 minutes.')
    await send(domain, [{ vendor: 'Google Analytics 4', event: 'purchase', params: { value: '', currency: 'EUR' } }])
    await until('the event', async () => (await rows()).some((row) => row.includes('purchase')))
    expect((await rows())[0]).toContain('Violations')
    await here.screen.press('purchase')
    await here.screen.sees('dialog', 'Event')
    await here.screen.reads('currency')
    await here.screen.reads('Purchases have a value')
    const links = await here.screen.page.$$eval('[role=dialog] a', (all) => all.map((a) => a.getAttribute('href')))
    expect(links).toContain(`/alerts/${alert.id}`)
    expect(links).toContain(`/issues?alertId=${alert.id}`)
    // Colours are mixed while the drawer fades in.
    await here.screen.page.waitForFunction(() => document.getAnimations().length === 0)
    expect(await axeFindings(here.screen.page)).toEqual([])
    await here.screen.page.keyboard.press('Escape')
  })

  test('filters by vendor, event and text, in the URL', async () => {
    const domain = await newDomain()
    await send(domain, [
      { vendor: 'Google Analytics 4', event: 'purchase', params: { value: '79.90' } },
      { vendor: 'Meta Pixel', event: 'PageView', params: { dl: 'home' } },
    ])
    await open(`/domains/${domain.id}/live`)
    await until('both', async () => (await rows()).length === 2)
    await here.screen.type('Search', 'value=79')
    await until('one', async () => (await rows()).length === 1)
    expect(await here.screen.page.evaluate(() => new URLSearchParams(location.search).get('q'))).toBe('value=79')
    await here.screen.type('Search', 'nothing of the kind')
    await here.screen.reads('No events match these filters.')
    await here.screen.press('Clear filters')
    await until('both again', async () => (await rows()).length === 2)
    await here.screen.press('Vendor', 'combobox')
    await here.screen.press('Meta Pixel', 'option')
    await until('the vendor', async () => (await rows()).join().includes('PageView') && (await rows()).length === 1)
  })

  test('does not change while it is paused, and counts the waiting events', async () => {
    const domain = await newDomain()
    await send(domain, [{ vendor: 'Google Analytics 4', event: 'before' }])
    await open(`/domains/${domain.id}/live`)
    await until('the event', async () => (await rows()).length === 1)
    await here.screen.press('Pause')
    await send(domain, [
      { vendor: 'Google Analytics 4', event: 'later_1' },
      { vendor: 'Google Analytics 4', event: 'later_2' },
    ])
    await here.screen.reads('Paused. 2 new events are waiting.')
    expect(await rows()).toHaveLength(1)
    await here.screen.press('Resume')
    await until('all', async () => (await rows()).length === 3)
  })

  test('stays bounded under a flood, and says what it no longer shows', async () => {
    const domain = await newDomain()
    await open(`/domains/${domain.id}/live`)
    await here.screen.reads('No events in the last 30 minutes.')
    let sent = 0
    for (let batch = 0; batch < 20; batch++) {
      await send(
        domain,
        Array.from({ length: 150 }, () => ({ vendor: 'Google Analytics 4', event: `event_${++sent}` })),
      )
    }
    const newest = `event_${sent}`
    await until('the newest event', async () => (await rows())[0]?.includes(newest) ?? false)
    const shown = await here.screen.page.$eval('table[aria-label=Events]', (table) =>
      table.getAttribute('aria-rowcount'),
    )
    expect(shown).toBe('1001')
    await until('all events', async () => (await head()).includes('2,000 others are only in the event history.'))
    expect((await rows()).length).toBeLessThan(150)
  })
})

test('the page of a domain opens with its summary', async () => {
  const domain = await newDomain()
  await send(domain, [
    { vendor: 'Google Analytics 4', event: 'purchase', params: { gcs: 'G111' } },
    { vendor: 'Meta Pixel', event: 'PageView' },
  ])
  await open(`/domains/${domain.id}`)
  for (const region of [
    'Volume against expectation',
    'Open issues',
    'Scores',
    'Vendors',
    'Consent',
    'Latest release',
  ]) {
    await here.screen.sees('region', region)
  }
  await here.screen.reads('No open issues.')
  await here.screen.reads('Meta Pixel')
  await here.screen.reads('Granted')
  await until('the cards', () => here.screen.page.evaluate(() => !document.querySelector('main [aria-busy=true]')))
  expect(await axeFindings(here.screen.page)).toEqual([])
})
