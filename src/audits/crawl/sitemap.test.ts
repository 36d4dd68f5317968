import { expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { readSitemap } from './sitemap.ts'

const SITE = 'https://shop.example'
const XML = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
const urlset = (...locs: string[]) =>
  `<?xml version="1.0"?><urlset ${XML}>${locs.map((loc) => `<url><loc>${loc}</loc></url>`).join('\n')}</urlset>`
const index = (...locs: string[]) =>
  `<sitemapindex ${XML}>${locs.map((loc) => `<sitemap><loc>${loc}</loc></sitemap>`).join('')}</sitemapindex>`

type Files = Record<string, string | Uint8Array | number>

/** Reads `/sitemap.xml` from a host with these files. The value of each file is its body or a status. */
async function read(files: Files, most = Number.POSITIVE_INFINITY) {
  const addresses: string[] = []
  const asked: string[] = []
  const fault = await readSitemap(`${SITE}/sitemap.xml`, {
    async read(url) {
      const path = url.replace(SITE, '')
      asked.push(path)
      const file = files[path]
      if (file === undefined) throw new Error('the connection broke')
      if (typeof file === 'number') return { url, status: file, body: new Uint8Array() }
      return { url, status: 200, body: typeof file === 'string' ? Buffer.from(file) : file }
    },
    take: (address) => addresses.push(address.replace(SITE, '')) < most,
  })
  return { fault, addresses, asked }
}

test.each<[string, string | Uint8Array, string[]]>([
  ['plain URLs', urlset(`${SITE}/`, `${SITE}/a?x=1`), ['/', '/a?x=1']],
  ['gzip compression', gzipSync(urlset(`${SITE}/a`)), ['/a']],
  ['whitespace around URLs', urlset(`\n  ${SITE}/a\n  `), ['/a']],
  ['entities', urlset(`${SITE}/?a=1&amp;b=&#50;&#x33;`), ['/?a=1&b=23']],
  ['CDATA sections', urlset(`<![CDATA[${SITE}/?a=1&b=2]]>`), ['/?a=1&b=2']],
  ['a namespace prefix', urlset(`${SITE}/a`).replaceAll(/<(\/?)(urlset|url|loc)\b/g, '<$1s:$2'), ['/a']],
  ['images next to pages', urlset(`${SITE}/a</loc><image:loc>${SITE}/a.png</image:loc><loc>${SITE}/b`), ['/a', '/b']],
  ['campaign parameters in URLs', urlset(`${SITE}/a?utm_source=x#top`), ['/a']],
  ['URLs with other schemes', urlset('ftp://shop.example/a', 'javascript:alert(1)', ''), []],
  ['a text file with one URL per line', `${SITE}/a\r\n\r\nno address\n ${SITE}/b `, ['/a', '/b']],
  ['a file that is not a sitemap', '<html><a href="/a">a</a></html>', []],
  ['a truncated file', urlset(`${SITE}/a`, `${SITE}/b`).slice(0, -22), ['/a']],
])('the URLs of a sitemap are read correctly: %s', async (_what, body, addresses) => {
  expect(await read({ '/sitemap.xml': body })).toMatchObject({ fault: null, addresses })
})

test('the files of an index are read in order, once each, and unreadable files are skipped', async () => {
  const files: Files = {
    '/sitemap.xml': index(...['/1.xml', '/gone.xml', '/broken.xml', '/2.xml.gz', '/1.xml'].map((path) => SITE + path)),
    '/1.xml': urlset(`${SITE}/a`),
    '/gone.xml': 404,
    '/2.xml.gz': gzipSync(index(`${SITE}/sitemap.xml`, `${SITE}/3.txt`)),
    '/3.txt': `${SITE}/b`,
  }
  expect(await read(files)).toEqual({
    fault: null,
    addresses: ['/a', '/b'],
    asked: ['/sitemap.xml', '/1.xml', '/gone.xml', '/broken.xml', '/2.xml.gz', '/3.txt'],
  })
})

test('an endless index is abandoned after 100 files', async () => {
  const files: Files = { '/sitemap.xml': index(`${SITE}/1.xml`) }
  for (let n = 1; n < 200; n++) files[`/${n}.xml`] = index(`${SITE}/${n + 1}.xml`)
  expect((await read(files)).asked).toHaveLength(100)
})

test('reading stops when enough URLs have been found', async () => {
  const many = urlset(...Array.from({ length: 1000 }, (_, n) => `${SITE}/${n}`))
  const files = { '/sitemap.xml': index(`${SITE}/1.xml`, `${SITE}/2.xml`), '/1.xml': many, '/2.xml': many }
  const { addresses, asked } = await read(files, 20)
  expect(addresses).toHaveLength(20)
  expect(asked).toEqual(['/sitemap.xml', '/1.xml'])
})

test.each<[string, Files[string], RegExp]>([
  ['is missing', 404, /^it responded with status 404$/],
  ['has broken gzip data', gzipSync(urlset(SITE)).subarray(0, 40), /./],
  ['exceeds its limit when unpacked', gzipSync(Buffer.alloc(51 * 1024 * 1024, ' ')), /./],
])('the reason is returned when the sitemap %s', async (_what, file, fault) => {
  expect((await read({ '/sitemap.xml': file })).fault).toMatch(fault)
})

test('hostile markup is parsed quickly', async () => {
  const body = `<urlset>${'<loc><![CDATA['.repeat(100_000)}${'<loc>'.repeat(100_000)}${' '.repeat(1_000_000)}`
  expect((await read({ '/sitemap.xml': body })).addresses).toHaveLength(0)
})
