import { describe, expect, test } from 'bun:test'
import { mkdirSync, rmSync } from 'node:fs'
import fc from 'fast-check'
import { AppError } from '../core/error.ts'
import { TestCollector } from './collector.fixture.ts'
import { RejectedBatches } from './rejected-batches.ts'

const REASONS = {
  invalid: 'batch: is invalid',
  tooLarge: 'batch: is too large',
  unsupportedType: 'batch: has an unsupported type or encoding',
  rateLimited: 'batch: exceeds the rate limit',
}
const CODES = ['invalid', 'tooLarge', 'unsupportedType', 'rateLimited'] as const
const domainOf = (id: string) => ({ id, orgId: 'org_1' })

describe('counts of rejected batches', () => {
  test('are retained until they are written: none is lost or counted twice, and the sample is the latest', () => {
    const aRefusal = fc.record({ id: fc.constantFrom('dom_1', 'dom_2'), code: fc.constantFrom(...CODES) })
    const aStep = fc.oneof(
      { weight: 4, arbitrary: aRefusal },
      // More batches are rejected while the counts are being written.
      { weight: 2, arbitrary: fc.record({ written: fc.boolean(), meanwhile: fc.array(aRefusal, { maxLength: 2 }) }) },
    )
    fc.assert(
      fc.property(fc.array(aStep, { maxLength: 40 }), (steps) => {
        const refusals = new RejectedBatches()
        const expected = new Map<string, number>()
        const counted = new Map<string, number>()
        const latest = new Map<string, string>()
        let made = 0
        const refuse = ({ id, code }: { id: string; code: keyof typeof REASONS }) => {
          const [name, sample] = [`${id} ${REASONS[code]}`, `refusal ${++made}`]
          refusals.add(domainOf(id), new AppError(code, sample))
          expected.set(name, (expected.get(name) ?? 0) + 1)
          latest.set(name, sample)
        }
        const write = () => {
          for (const { domain, ledger } of refusals.take()) {
            for (const { reason, count, sample } of ledger) {
              const name = `${domain.id} ${reason}`
              counted.set(name, (counted.get(name) ?? 0) + count)
              expect(sample).toBe(latest.get(name) ?? '')
            }
          }
        }
        for (const step of steps) {
          if ('code' in step) refuse(step)
          else if (step.written) write()
          else {
            const taken = refusals.take()
            for (const refused of step.meanwhile) refuse(refused)
            for (const refused of taken) refusals.restore(refused)
          }
        }
        write()
        expect(counted).toEqual(expected)
        expect(refusals.take()).toEqual([])
      }),
    )
  })

  test('exclude batches that the sender will repeat', () => {
    const refusals = new RejectedBatches()
    refusals.add(domainOf('dom_1'), new AppError('unavailable', 'the disk is full', 5))
    expect(refusals.take()).toEqual([])
  })

  test('are written once each when the disk is writable again', async () => {
    await using fixture = new TestCollector()
    rmSync(fixture.spoolFolder, { recursive: true })
    for (const token of [fixture.shop.token, fixture.blog.token]) await fixture.send('{', { token })
    for (let round = 0; round < 2; round++) {
      const recorded = fixture.collector.recordRefusals()
      await Promise.all([
        expect(recorded).rejects.toMatchObject({ code: 'unavailable' }),
        fixture.send('{"nonsense":1}'),
      ])
    }
    mkdirSync(fixture.spoolFolder)
    await fixture.collector.recordRefusals()
    await fixture.collector.recordRefusals()
    const reason = 'batch: is invalid'
    expect(fixture.ledger().toSorted((a, b) => b.count - a.count)).toMatchObject([
      { domainId: fixture.shop.id, reason, count: 3 },
      { domainId: fixture.blog.id, reason, count: 1 },
    ])
  })
})
