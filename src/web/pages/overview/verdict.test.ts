import { expect, test } from 'bun:test'
import { badDomains, type Situation, verdictOf } from './verdict.ts'

const CALM: Situation = {
  openCounts: { critical: 0, high: 0, medium: 0, low: 0 },
  issues: [],
  domains: [{ id: 'dom_1', name: 'shop', status: 'active', lastEventAt: 5 }],
  signals: { watched: 4, learning: 1 },
  gapSince: null,
}
const issue = (severity: 'critical' | 'high' | 'medium' | 'low') => ({
  id: 'iss_1',
  title: 'purchase stopped',
  severity,
  firstSeenAt: 1,
  hosts: [],
})
const SILENT: Situation['domains'] = [{ id: 'dom_2', name: 'blog', status: 'silent', lastEventAt: 2 }]
const WAITING: Situation['domains'] = [{ id: 'dom_3', name: 'new', status: 'waiting', lastEventAt: null }]
const counts = (part: Partial<Situation['openCounts']>) => ({ ...CALM.openCounts, ...part })

test.each<[string, Partial<Situation>, object]>([
  ['everything is normal', {}, { is: 'well', signals: 3, lastEventAt: 5 }],
  [
    'delayed events take precedence over everything else',
    { gapSince: 9, issues: [issue('critical')], openCounts: counts({ critical: 1 }) },
    { is: 'behind', since: 9 },
  ],
  [
    'the most severe issue determines the verdict, and all other issues are counted',
    { issues: [issue('critical')], openCounts: counts({ critical: 2, high: 1, low: 3 }) },
    { is: 'critical', problems: 2, worst: issue('critical'), more: 5 },
  ],
  [
    'a high-severity issue',
    { issues: [issue('high')], openCounts: counts({ high: 1 }) },
    { is: 'high', problems: 1, more: 0 },
  ],
  [
    'a silent domain takes precedence over minor issues',
    { issues: [issue('low')], openCounts: counts({ low: 1 }), domains: [...CALM.domains, ...SILENT] },
    { is: 'silent', domains: SILENT },
  ],
  ['minor issues', { issues: [issue('low')], openCounts: counts({ low: 2, medium: 1 }) }, { is: 'small', problems: 3 }],
  ['only a waiting domain', { domains: WAITING }, { is: 'waiting', domain: WAITING[0] }],
  ['a waiting and an active domain', { domains: [...CALM.domains, ...WAITING] }, { is: 'well' }],
  ['no domains', { domains: [] }, { is: 'empty' }],
  [
    'all signals are learning and will be ready at a known time',
    { signals: { watched: 2, learning: 2, learnedAt: 7 } },
    { is: 'learning', until: 7 },
  ],
  [
    'all signals are learning and will be ready at an unknown time',
    { signals: { watched: 2, learning: 2 } },
    { is: 'learning' },
  ],
  ['no signals', { signals: { watched: 0, learning: 0 } }, { is: 'well', signals: 0 }],
  ['no events', { domains: [{ id: 'a', name: 'b', status: 'active' }] }, { is: 'well', lastEventAt: null }],
])('%s', (_name, part, verdict) => {
  expect(verdictOf({ ...CALM, ...part })).toMatchObject(verdict)
})

test('affected domains are those with the most severe issues', () => {
  const on = (severity: 'critical' | 'low', ...hosts: string[]) => ({ ...issue(severity), hosts })
  expect(badDomains([on('critical', 'a'), on('low', 'b', 'c')], 3)).toBe(1)
  expect(badDomains([on('critical', 'a', 'b'), on('critical', 'b')], 3)).toBe(2)
  expect(badDomains([on('critical', 'a', 'b', 'c')], 2)).toBe(2)
  expect(badDomains([on('critical')], 2)).toBe(1)
})
