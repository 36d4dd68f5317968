import type { Segments } from '../../core/event.ts'

/** A visitor's browser: what it sends, and what the collector reads from that. */
export interface SampleBrowser {
  userAgent: string
  language: string
  segments: Pick<Segments, 'browser' | 'browserVersion' | 'os' | 'device'>
}

const APPLE = 'AppleWebKit/605.1.15 (KHTML, like Gecko)'
const CHROMIUM = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0'
const WINDOWS = '(Windows NT 10.0; Win64; x64)'

type Software = Omit<SampleBrowser, 'language'>

/** The most frequent browser. It is also the one in which the shop's releases fail. */
export const SAFARI: Software = {
  userAgent: `Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X) ${APPLE} Version/26.1 Mobile/15E148 Safari/604.1`,
  segments: { browser: 'Safari', browserVersion: '26', os: 'iOS', device: 'phone' },
}

/** Browsers with their shares of the visits, in percent. */
const BROWSERS: readonly (Software & { share: number })[] = [
  { share: 34, ...SAFARI },
  {
    share: 24,
    userAgent: `Mozilla/5.0 (Linux; Android 10; K) ${CHROMIUM} Mobile Safari/537.36`,
    segments: { browser: 'Chrome', browserVersion: '142', os: 'Android', device: 'phone' },
  },
  {
    share: 20,
    userAgent: `Mozilla/5.0 ${WINDOWS} ${CHROMIUM} Safari/537.36`,
    segments: { browser: 'Chrome', browserVersion: '142', os: 'Windows', device: 'desktop' },
  },
  {
    share: 9,
    userAgent: `Mozilla/5.0 ${WINDOWS} ${CHROMIUM} Safari/537.36 Edg/142.0.0.0`,
    segments: { browser: 'Edge', browserVersion: '142', os: 'Windows', device: 'desktop' },
  },
  {
    share: 7,
    userAgent: `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${APPLE} Version/26.1 Safari/605.1.15`,
    segments: { browser: 'Safari', browserVersion: '26', os: 'macOS', device: 'desktop' },
  },
  {
    share: 6,
    userAgent: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:145.0) Gecko/20100101 Firefox/145.0',
    segments: { browser: 'Firefox', browserVersion: '145', os: 'Windows', device: 'desktop' },
  },
]
const BY_PERCENT = BROWSERS.flatMap(({ share, ...software }) => Array.from({ length: share }, () => software))
const LANGUAGES = ['de', 'de', 'de', 'en', 'fr'] as const

/** Returns the browser of a visit. It is the same for the same id. */
export function browserOf(visitId: string): SampleBrowser {
  const hash = Bun.hash.xxHash32(visitId)
  const { userAgent, segments } = BY_PERCENT[hash % BY_PERCENT.length] ?? SAFARI
  return { userAgent, segments, language: LANGUAGES[Math.floor(hash / 100) % LANGUAGES.length] ?? 'de' }
}
