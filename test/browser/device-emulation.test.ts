import { expect, test } from 'bun:test'
import { until } from '../run-program.ts'
import { browse } from './browse.ts'

/** A page that reports the device it detects, and has a link that opens a new tab. */
const PAGE = `<!doctype html><meta name="viewport" content="width=device-width"><link rel="icon" href="data:,"><script>
  fetch('/seen?' + new URLSearchParams({ at: location.pathname, width: innerWidth, touch: navigator.maxTouchPoints, agent: navigator.userAgent }))
</script><a target="_blank" rel="noopener" href="/new">new</a>`

test('an idle browser sends no requests, and new tabs also emulate the device', async () => {
  const seen: Record<string, string>[] = []
  const agents: string[] = []
  /** Values of `Sec-CH-UA-Mobile` in page requests. */
  const hints: string[] = []
  using site = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      agents.push(request.headers.get('user-agent') ?? '')
      if (new URL(request.url).pathname !== '/seen') hints.push(request.headers.get('sec-ch-ua-mobile') ?? '')
      const { pathname, searchParams } = new URL(request.url)
      if (pathname === '/seen') seen.push(Object.fromEntries(searchParams))
      return new Response(PAGE, { headers: { 'content-type': 'text/html' } })
    },
  })
  const origins: string[] = []
  await using browsing = await browse(
    { device: 'mobile', userAgentSuffix: 'Tagwarden/1' },
    { onAsked: (place) => origins.push(place) },
  )
  await browsing.page.goto(`http://127.0.0.1:${site.port}/first`)
  await browsing.page.click('a')
  await until('both pages', () => seen.length === 2)
  await until('the new tab', () => browsing.tabs().length === 2)
  const phone = /Android .* Chrome\/\d+\.0\.0\.0 Mobile Safari\/537\.36 Tagwarden\/1$/
  expect(seen).toMatchObject([
    { at: '/first', width: '390', touch: '5', agent: expect.stringMatching(phone) },
    { at: '/new', width: '390', agent: expect.stringMatching(phone) },
  ])
  expect(agents).toHaveLength(4)
  expect(hints).toEqual(['?1', '?1'])
  for (const agent of agents) expect(agent).toMatch(phone)
  const tab = browsing.tabs()[1]
  expect(await tab?.evaluate('[innerWidth, navigator.maxTouchPoints, navigator.userAgent]')).toEqual([
    390,
    5,
    expect.stringMatching(phone),
  ])
  expect(new Set(origins)).toEqual(new Set([`127.0.0.1:${site.port}`]))
})
