import { describe, expect, test } from 'bun:test'
import { TestCollector } from './collector.fixture.ts'

const vendor = { host: 'connect.facebook.net', requests: 2, durMs: [10, 12.5], blockMs: 7, bytes: 900 }

/** Sends a batch, and returns the answer and the stored pages. */
async function send(batch: object) {
  await using stand = new TestCollector()
  const { status, body } = await stand.send(batch)
  return { status, body, stand, pages: stand.stored().batches.flatMap(({ pages = [] }) => pages) }
}

describe('page statistics', () => {
  test('become a row for each vendor of the page', async () => {
    const { status, pages, stand } = await send({
      sessionId: 's-1',
      env: 'dev',
      version: 3,
      sampleRate: 0.5,
      sentAt: 1000,
      page: { url: 'https://shop.example/cart?step=2' },
      pageStats: { ts: 400, loaf: true, vendors: [vendor, { host: 'CDN.nobody.example', requests: 1 }] },
    })
    expect(status).toBe(202)
    const frame = {
      page: expect.any(Number),
      ts: stand.clock.now() - 600,
      receivedAt: stand.clock.now(),
      orgId: stand.shop.orgId,
      domainId: stand.shop.id,
      ...{ env: 'dev', host: 'shop.example', path: '/cart', sessionId: 's-1', version: 3, weight: 2, loaf: true },
    }
    expect(pages).toEqual([
      {
        ...frame,
        ...{ vendor: 'Meta Pixel', vendorHost: 'connect.facebook.net', requests: 2, durMs: [10, 12.5] },
        ...{ blockMs: 7, bytes: 900 },
      },
      {
        ...frame,
        ...{ vendor: 'cdn.nobody.example', vendorHost: 'cdn.nobody.example', requests: 1, durMs: [] },
        ...{ blockMs: 0, bytes: null },
      },
    ])
  })

  test('without any vendor are one row, so that the page counts', async () => {
    const { body, pages } = await send({ pageStats: { loaf: false } })
    expect(body).toEqual({ accepted: 1, rejected: 0, errors: [] })
    expect(pages).toMatchObject([{ vendor: '', requests: 0, durMs: [], blockMs: null, bytes: null, loaf: false }])
  })

  test('of a browser that does not report blocking time have null for it', async () => {
    const { pages } = await send({ pageStats: { loaf: false, vendors: [vendor] } })
    expect(pages).toMatchObject([{ blockMs: null }])
  })

  test('lose only a bad vendor', async () => {
    const bad = [{}, { host: '', requests: 1 }, { ...vendor, requests: -1 }, { ...vendor, more: 1 }, 7]
    const { body, pages } = await send({ events: [{ vendor: 'A' }], pageStats: { vendors: [...bad, vendor] } })
    expect([body.accepted, body.rejected]).toEqual([2, bad.length])
    expect(body.errors[0]).toMatchObject({ list: 'pageStats.vendors', index: 0 })
    expect(pages).toMatchObject([{ vendor: 'Meta Pixel' }])
  })

  test.each([[{ vendors: 7 }], [{ vendors: Array(201).fill(vendor) }], [{ ts: -1 }], [{ more: 1 }], [7]])(
    'that are %j make no batch',
    async (pageStats) => {
      const { status, body } = await send({ pageStats })
      expect([status, body.error]).toEqual([400, expect.stringMatching(/^pageStats/)])
    },
  )
})
