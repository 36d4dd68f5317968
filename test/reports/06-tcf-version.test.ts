import { expect, test } from 'bun:test'
import { decodeLine } from '../../src/commands/decode.ts'
import { describeReport, expectedOf, type ReportedRequest, reportLines } from './bug-report.ts'

interface ExpectedLine {
  policyVersion: number
  framework?: string
  notVersion?: string
  purposes: string
  disclosedVendors: string
}

const paramsOf = (request: ReportedRequest) => decodeLine(request).events[0]?.params ?? {}

describeReport('the decoded parameters of a TCF string', () => {
  const read = () => ({
    requests: reportLines('06-tcf-version.ndjson'),
    ...expectedOf<{ lines: ExpectedLine[] }>('06-tcf-version.expected.json'),
  })

  test('include the expected framework, policy version and purposes', () => {
    const { requests, lines } = read()
    expect(requests).toHaveLength(lines.length)
    for (const [index, { policyVersion, framework, notVersion, purposes }] of lines.entries()) {
      const params = paramsOf(requests[index] ?? { url: '', method: '' })
      expect(params).toMatchObject({
        'consent.tcf.policy_version': String(policyVersion),
        'consent.tcf.purposes': purposes,
        ...(framework === undefined ? {} : { 'consent.tcf.framework': framework }),
      })
      if (notVersion !== undefined) expect(params['consent.tcf.version']).not.toBe(notVersion)
    }
  })

  test('include the expected vendors', () => {
    const { requests, lines } = read()
    // The date in the last expected value is the date of `consent.tcf.created`.
    const words = lines.map(({ disclosedVendors }) => disclosedVendors.replace(' although made on 2026-06-26', ''))
    expect(requests.map((request) => paramsOf(request)['consent.tcf.disclosed_vendors'])).toEqual(words)
    expect(paramsOf(requests[3] ?? { url: '', method: '' })['consent.tcf.created']).toBe('2026-06-26')
  })
})
