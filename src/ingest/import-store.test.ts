import { expect, test } from 'bun:test'
import { cast, memoryDb, testClock } from '../../test/fixtures.ts'
import { createDomain, deleteDomain } from '../domains/store.ts'
import { RECORD_RETENTION_MS } from '../store/retention.ts'
import { isImported, recordImport, removeOldImports } from './import-store.ts'
import { EMPTY_SEGMENT } from './segment-counts.ts'

test('an imported file is known until its events expire or its domain is deleted', () => {
  const [db, clock] = [memoryDb(), testClock()]
  const { orgId } = cast(db, clock)
  const [kept, gone] = ['kept.example', 'gone.example'].map((name) => createDomain(db, clock, orgId, { name }))
  const files = [kept, gone, ''].map((domainId = '') => ({ content: 'c0ffee', domainId }))
  const nothing = { content: EMPTY_SEGMENT, spans: [], notes: [] }
  for (const file of files) recordImport(db, { ...file, events: 1 }, nothing, clock.now())
  const known = () => files.map((file) => isImported(db, file))
  expect(known()).toEqual([true, true, true])
  deleteDomain(db, { orgId, id: gone ?? '' })
  removeOldImports(db, clock.now())
  expect(known()).toEqual([true, false, true])
  removeOldImports(db, clock.now() + RECORD_RETENTION_MS + 1)
  expect(known()).toEqual([false, false, false])
})
