import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cast, memoryDb, testClock } from '../../test/fixtures.ts'
import { HOUR_MS } from '../core/clock.ts'
import { findOrg } from '../org/store.ts'
import { type Db, openDatabase } from '../store/database.ts'
import { domainDirectory } from './domain-directory.ts'
import { createDomain, deleteDomain, findDomain, rotateToken, setHostnameStatus, TOKEN_GRACE_MS } from './store.ts'

const folder = mkdtempSync(join(tmpdir(), 'directory-'))
afterAll(() => rmSync(folder, { recursive: true }))

function setUp(db: Db = memoryDb()) {
  const clock = testClock()
  const people = cast(db, clock)
  const directory = domainDirectory({ db, clock })
  const create = (name: string, orgId = people.orgId) => {
    const id = createDomain(db, clock, orgId, { name, vendors: [{ vendorName: 'ga4', urlPatternMatches: ['/g'] }] })
    return { orgId, id, token: findDomain(db, { orgId, id }, clock.now()).token }
  }
  return { db, clock, cast: people, directory, create }
}

test("a token resolves to its domain and its organization's salt", () => {
  const { db, cast, directory, create } = setUp()
  const [ours, theirs] = [create('Shop'), create('Shop', cast.mallory.orgId)]
  for (const { id, orgId, token } of [ours, theirs]) {
    expect(directory.byToken(token)).toEqual({
      id,
      orgId,
      customerSalt: findOrg(db, orgId)?.customerSalt ?? '',
      vendors: [{ vendorName: 'ga4', urlPatternMatches: ['/g'] }],
      nameVendor: expect.any(Function),
      pageViewRate: { dev: 1, prod: 1 },
      capture: { enabled: true, sampleRate: { prod: 1, dev: 1 }, sessionMode: 'memory' },
    })
    expect(directory.byToken(token)?.nameVendor('https://shop.example/g?x')).toBe('ga4')
  }
  for (const token of ['', 'pt_unknown', ours.id, cast.alice.key, '__proto__', 'constructor']) {
    expect(directory.byToken(token)).toBeNull()
  }
})

describe('a replaced token', () => {
  test('works for exactly 24 hours, even without a refresh', () => {
    const { db, clock, directory, create } = setUp()
    const { token, ...domain } = create('Shop')
    const rotated = rotateToken(db, clock, domain)
    directory.invalidate()
    clock.advance(TOKEN_GRACE_MS - 1)
    expect(directory.byToken(token)?.id).toBe(domain.id)
    expect(directory.byToken(rotated.token)?.id).toBe(domain.id)
    clock.advance(1)
    expect(directory.byToken(token)).toBeNull()
    expect(directory.byToken(rotated.token)?.id).toBe(domain.id)
  })

  test('stops working when its successor is also replaced', () => {
    const { db, clock, directory, create } = setUp()
    const { token, ...domain } = create('Shop')
    const second = rotateToken(db, clock, domain)
    clock.advance(HOUR_MS)
    const third = rotateToken(db, clock, domain)
    const known = [token, second.token, third.token].map((each) => directory.byToken(each)?.id ?? null)
    expect(known).toEqual([null, domain.id, domain.id])
  })
})

test('a hostname is denied only for its own domain, in every spelling', () => {
  const { db, directory, create } = setUp()
  const [shop, blog] = [create('Shop'), create('Blog')]
  setHostnameStatus(db, shop, 'xn--mller-kva.example', 'denied')
  setHostnameStatus(db, shop, 'good.example', 'approved')
  setHostnameStatus(db, shop, 'new.example', 'unreviewed')
  const spellings = ['xn--mller-kva.example', 'müller.example', 'MÜLLER.example.', 'xn--MLLER-kva.example']
  for (const hostname of spellings) {
    expect(directory.isDenied(shop.id, hostname)).toBe(true)
    expect(directory.isDenied(blog.id, hostname)).toBe(false)
  }
  for (const hostname of ['good.example', 'new.example', 'unknown.example', 'sub.xn--mller-kva.example', '', '%']) {
    expect(directory.isDenied(shop.id, hostname)).toBe(false)
  }
})

describe('the domain directory', () => {
  test('reflects changes through its own connection after `invalidate`', () => {
    const { db, directory, create } = setUp()
    expect(directory.byToken('pt_none')).toBeNull()
    const { token, ...domain } = create('Shop')
    expect(directory.byToken(token)).toBeNull()
    directory.invalidate()
    expect(directory.byToken(token)?.id).toBe(domain.id)
    deleteDomain(db, domain)
    directory.invalidate()
    expect(directory.byToken(token)).toBeNull()
  })

  test('reflects changes through another connection at the next refresh', () => {
    const path = join(folder, 'tagwarden.db')
    const { directory } = setUp(openDatabase(path))
    directory.refresh()
    const other = openDatabase(path)
    const orgId = other.prepare('SELECT id FROM org').pluck().get() as string
    const clock = testClock()
    const id = createDomain(other, clock, orgId, { name: 'Shop' })
    const { token } = findDomain(other, { orgId, id }, clock.now())
    expect(directory.byToken(token)).toBeNull()
    directory.refresh()
    expect(directory.byToken(token)?.id).toBe(id)
  })

  test('returns the same objects without rereading unchanged data', () => {
    const { directory, create } = setUp()
    const { token } = create('Shop')
    const before = directory.byToken(token)
    directory.refresh()
    expect(directory.byToken(token)).toBe(before)
    directory.invalidate()
    expect(directory.byToken(token)).not.toBe(before)
  })
})
