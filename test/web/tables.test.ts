import { describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder, until } from '../run-program.ts'
import { axeFindings } from './axe.ts'
import { named } from './screen.ts'
import { openAs, sharedTestServer } from './test-server.ts'

const here = sharedTestServer()

const titles = () =>
  here.screen.page.$$eval('tbody tr[data-id] a[data-row-link]', (links) => links.map((link) => link.textContent))
const headings = () =>
  here.screen.page.$$eval('thead th', (heads) => heads.map((head) => head.textContent?.trim()).filter(Boolean))
const address = () => new URL(here.screen.page.url())

/** Opens the list of issues with three issues in a wide window. */
async function openIssues() {
  const { server, screen } = here
  if (!(await server.app.call('GET', '/v1/issues')).body.issues.length) {
    server.openIssues([{ title: 'Beta' }, { title: '=Alpha' }, { title: 'Gamma' }])
  }
  await screen.page.setViewport({ width: 1280, height: 900 })
  await openAs(screen, server.app.owner.apiKey, '/issues')
  await screen.sees('table', 'Issues')
}

/** Opens the list of domains with three domains. */
async function openDomains(width: number) {
  const { server, screen } = here
  const { domains } = (await server.app.call('GET', '/v1/domains')).body
  for (const name of ['Beta', 'Alpha', 'Gamma']) {
    if (domains.some((domain: { name: string }) => domain.name === name)) continue
    await server.app.call('POST', '/v1/domains', { body: { name } })
  }
  await screen.page.setViewport({ width, height: 900 })
  await openAs(screen, server.app.owner.apiKey, '/domains')
  await screen.sees('table', 'Domains')
}

/** The names of the three domains, in the order of the list. */
const sorted = async () => (await titles()).filter((name) => /^(?:Alpha|Beta|Gamma)$/.test(name ?? '')).join()

describe('the order of a list', () => {
  test('is changed by the heading of a column, and is part of the URL', async () => {
    await openDomains(1280)
    const { page } = here.screen
    const heading = await page.waitForSelector(named('button', 'Name'))
    await heading?.focus()
    await page.keyboard.press('Enter')
    await until('the sorted list', async () => (await sorted()) === 'Alpha,Beta,Gamma')
    expect(address().searchParams.get('sort')).toBe('name')
    expect(await page.$eval('th[aria-sort=ascending]', (head) => head.textContent?.trim())).toBe('Name')
    await page.keyboard.press('Enter')
    await until('the reversed list', async () => (await sorted()) === 'Gamma,Beta,Alpha')
    expect(address().searchParams.get('sort')).toBe('-name')
    await page.reload()
    await here.screen.sees('table', 'Domains')
    expect(await sorted()).toBe('Gamma,Beta,Alpha')
    expect(await axeFindings(page)).toEqual([])
  })

  test('is changed on a phone by the field Sort by', async () => {
    await openDomains(360)
    const { screen } = here
    expect(await screen.has('button', 'Name')).toBe(false)
    await screen.page.select('select[aria-label="Sort by"]', 'name')
    await until('the sorted list', async () => (await sorted()) === 'Alpha,Beta,Gamma')
    await screen.press('Reverse order')
    await until('the reversed list', async () => (await sorted()) === 'Gamma,Beta,Alpha')
    expect(address().searchParams.get('sort')).toBe('-name')
    expect(await axeFindings(screen.page)).toEqual([])
    await screen.page.select('select[aria-label="Sort by"]', '')
    await until('the default order', async () => !address().searchParams.has('sort'))
  })
})

describe('the menu Columns', () => {
  test('hides a column in this browser, and shows it again', async () => {
    await openIssues()
    const { screen } = here
    expect(await headings()).toContain('Value')
    await screen.press('Columns')
    // The first column and the title can't be hidden.
    await screen.sees('menuitemcheckbox', 'Value')
    expect(await screen.has('menuitemcheckbox', 'Issue')).toBe(false)
    await screen.press('Value', 'menuitemcheckbox')
    await until('the hidden column', async () => !(await headings()).includes('Value'))
    await screen.page.reload()
    await screen.sees('table', 'Issues')
    expect(await headings()).not.toContain('Value')
    await screen.press('Columns')
    await screen.press('Value', 'menuitemcheckbox')
    await until('the column', async () => (await headings()).includes('Value'))
  })

  test('shows an optional column', async () => {
    await openIssues()
    const { screen } = here
    expect(await headings()).not.toContain('First seen')
    await screen.press('Columns')
    await screen.press('First seen', 'menuitemcheckbox')
    await until('the column', async () => (await headings()).includes('First seen'))
    await screen.press('First seen', 'menuitemcheckbox')
  })
})

describe('the menu Export', () => {
  test.each([
    ['CSV', 'csv'],
    ['JSON', 'json'],
  ])('downloads the filtered list as %s', async (format, extension) => {
    await openIssues()
    const { screen } = here
    using folder = temporaryFolder()
    const session = await screen.page.createCDPSession()
    await session.send('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: folder.path })
    await screen.open('/issues?q=alpha')
    await screen.sees('table', 'Issues')
    await screen.press('Export')
    await screen.press(format, 'menuitem')
    const name = await until('the file', () => readdirSync(folder.path).find((one) => one.endsWith(extension)) ?? null)
    expect(name).toMatch(new RegExp(`^tagwarden-issues-\\d{4}-\\d\\d-\\d\\d\\.${extension}$`))
    const path = join(folder.path, name)
    const text = await until('its content', () => existsSync(path) && readFileSync(path, 'utf8'))
    if (extension === 'csv') {
      expect(text.charCodeAt(0)).toBe(0xfeff)
      expect(text.trimEnd().split('\r\n').length).toBe(2)
      expect(text).toContain("'=Alpha")
    } else {
      expect(JSON.parse(text).map(({ title }: { title: string }) => title)).toEqual(['=Alpha'])
    }
  })

  test('shows an error, and saves nothing', async () => {
    await openIssues()
    const { server, screen } = here
    await screen.press('Export')
    server.refuse('GET /v1/issues', 429, 'too many requests; try again in 12 s')
    await screen.press('CSV', 'menuitem')
    await screen.reads('too many requests; try again in 12 s')
    server.refuse(null)
  })
})
