import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseRobots } from './robots.ts'

const allows = (lines: string, path: string) => parseRobots(lines).allows(`https://shop.example${path}`)

describe('the groups of a robots.txt file', () => {
  test.each<[string, string, boolean]>([
    ['an empty file', '', true],
    ['rules for all crawlers', 'User-agent: *\nDisallow: /', false],
    ['rules for other crawlers', 'User-agent: googlebot\nDisallow: /', true],
    [
      'rules for this crawler and for all crawlers',
      'User-agent: *\nDisallow: /\n\nUser-agent: Tagwarden\nAllow: /',
      true,
    ],
    ['the name of this crawler with a version', 'User-agent: TAGWARDEN/2.0\nDisallow: /', false],
    ['a name that begins like the name of this crawler', 'User-agent: tagwarden-two\nDisallow: /', true],
    ['several names', 'User-agent: a\nUser-agent: tagwarden\nUser-agent: b\nDisallow: /', false],
    ['two groups for this crawler', 'User-agent: tagwarden\nAllow: /\n\nUser-agent: tagwarden\nDisallow: /p', false],
    ['an empty line within a group', 'User-agent: *\n\nDisallow: /', false],
    ['rules before any crawler name', 'Disallow: /\nUser-agent: x\nDisallow: /', true],
    ['comments, spaces and capital letters', '# all\nUSER-AGENT :  *  # us too\n  disallow :/ # no', false],
    ['other line endings', 'User-agent: *\rDisallow: /\r', false],
    ['a byte order mark', '\uFEFFUser-agent: *\nDisallow: /', false],
    [
      'a sitemap between a crawler name and its rules',
      'User-agent: *\nSitemap: https://x.example/s.xml\nDisallow: /',
      false,
    ],
    ['an empty rule', 'User-agent: *\nDisallow:', true],
    ['a file other than robots.txt', '<html><body>Not found</body></html>', true],
  ])('are applied correctly: %s', (_what, lines, expected) => {
    expect(allows(lines, '/page')).toBe(expected)
  })
})

// Examples from the table in RFC 9309, section 2.2.2, and from Google's documentation of wildcards.
test.each<[string, string, boolean]>([
  ['/fish', '/fish', true],
  ['/fish', '/fish.html', true],
  ['/fish', '/fishheads/yummy.html', true],
  ['/fish', '/Fish.asp', false],
  ['/fish', '/catfish', false],
  ['/fish*', '/fish/salmon.html', true],
  ['/fish/', '/fish', false],
  ['/fish/', '/fish/?id=anything', true],
  ['/*.php', '/folder/filename.php?parameters', true],
  ['/*.php', '/windows.PHP', false],
  ['/*.php$', '/filename.php', true],
  ['/*.php$', '/filename.php?parameters', false],
  ['/*.php$', '/filename.php5', false],
  ['/fish*.php', '/fishheads/catfish.php?parameters', true],
  ['/*?', '/page?x=1', true],
  ['/*?', '/page', false],
  ['/$', '/', true],
  ['/$', '/a', false],
  ['*', '/anything', true],
  ['/a*b*c$', '/axbxbxc', true],
  ['/a*b*c$', '/axbxcx', false],
  ['/foo/bar/ツ', '/foo/bar/%E3%83%84', true],
  ['/foo/bar/%e3%83%84', '/foo/bar/%E3%83%84', true],
  ['/foo/bar/%62%61%7A', '/foo/bar/baz', true],
  ['/a%2Fb', '/a/b', false],
])('the rule %s applies to %s: %p', (rule, path, expected) => {
  expect(allows(`User-agent: *\nDisallow: ${rule}`, path)).toBe(!expected)
})

test.each<[string, string, boolean]>([
  ['Allow: /p\nDisallow: /', '/page', true],
  ['Disallow: /\nAllow: /p', '/page', true],
  ['Allow: /folder\nDisallow: /folder', '/folder/page', true],
  ['Allow: /page\nDisallow: /*.htm', '/page.htm', false],
  ['Allow: /page\nDisallow: /*.ph', '/page.php5', true],
  ['Allow: /$\nDisallow: /', '/', true],
  ['Allow: /$\nDisallow: /', '/page.htm', false],
  ['Disallow: /', '/robots.txt', true],
])('the longest rule in %j decides for %s: %p', (rules, path, expected) => {
  expect(allows(`User-agent: *\n${rules}`, path)).toBe(expected)
})

test.each<[string, number]>([
  ['User-agent: *\nCrawl-delay: 2\nDisallow:', 2000],
  ['User-agent: *\nCrawl-delay: 0.5', 500],
  ['User-agent: *\nCrawl-delay: 3600', 30_000],
  ['User-agent: *\nCrawl-delay: soon', 0],
  ['User-agent: *\nCrawl-delay: -1', 0],
  ['User-agent: x\nCrawl-delay: 2', 0],
])('the delay required by %j is %p ms', (lines, delayMs) => {
  expect(parseRobots(lines).delayMs).toBe(delayMs)
})

test('any string is parsed, and hostile patterns are matched quickly', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), fc.webPath(), (text, path) => void allows(text, path || '/')))
  const pattern = `/${'*a'.repeat(5000)}b`
  expect(allows(`User-agent: *\nDisallow: ${pattern}`, `/${'a'.repeat(1900)}`)).toBe(true)
})

test('a rule without wildcards matches all paths with that prefix', () => {
  const part = fc.stringMatching(/^[a-z/]{0,8}$/)
  fc.assert(
    fc.property(part, part, (rule, path) => {
      expect(allows(`User-agent: *\nDisallow: /${rule}`, `/${path}`)).toBe(!`/${path}`.startsWith(`/${rule}`))
    }),
  )
})
