import { expect } from 'bun:test'
import { decodeLine } from '../../src/commands/decode.ts'
import type { ReportedRequest } from './bug-report.ts'

/** Expected values of one decoded line. Omitted fields may have any value. */
export interface ExpectedLine {
  vendor: string
  account?: string
  kind?: string
  event?: string
  /** Event names in order, or the number of events. */
  events?: string[] | number
  error?: string | null
  params?: Record<string, string>
  paramsOfFirst?: Record<string, string>
  /** Values that must occur among the parameters, or parameters with their values. */
  mustContain?: string[] | Record<string, string>
}

/** Compares the output of `tagwarden decode` for a line with the expected values. */
export function expectDecoded(request: ReportedRequest, expected: ExpectedLine): void {
  const { vendor, account, kind, events, error } = decodeLine(request)
  const { mustContain = [], params = expected.paramsOfFirst ?? {} } = expected
  expect({ vendor, error }).toEqual({ vendor: expected.vendor, error: expected.error ?? null })
  if (expected.account !== undefined) expect(account).toBe(expected.account)
  if (expected.kind !== undefined) expect(kind).toBe(expected.kind as typeof kind)
  const names = events.map(({ event }) => event)
  if (expected.event !== undefined) expect(new Set(names)).toEqual(new Set([expected.event]))
  if (Array.isArray(expected.events)) expect(names).toEqual(expected.events)
  else if (expected.events !== undefined) expect(names).toHaveLength(expected.events)
  const first = events[0]?.params ?? {}
  expect(first).toMatchObject(params)
  if (!Array.isArray(mustContain)) expect(first).toMatchObject(mustContain)
  else for (const part of mustContain) expect(Object.values(first).join(' ')).toContain(part)
}
