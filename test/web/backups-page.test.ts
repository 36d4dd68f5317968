import { expect, test } from 'bun:test'
import { axeFindings } from './axe.ts'
import { openAs, sharedTestServer } from './test-server.ts'

const world = sharedTestServer()

test('an owner makes and downloads a backup; others see which role is required', async () => {
  const { server, screen } = world
  await openAs(screen, server.keyOf('member'), '/settings/backups')
  await screen.reads('Viewing and making backups requires the Owner role or higher.')
  await screen.page.setViewport({ width: 360, height: 800 })
  await openAs(screen, server.app.owner.apiKey, '/settings/backups')
  await screen.reads('No backups yet.')
  await screen.press('Back up now')
  await screen.reads('Succeeded')
  await screen.page.waitForSelector('button[aria-label^="Download the backup of"]')
  await shoot('360')
  await screen.page.setViewport({ width: 1280, height: 800 })
  await shoot('1280')
  expect(screen.errors).toEqual([])
})

test('a quiet server says so on every page until an owner resumes it', async () => {
  const { server, screen } = world
  const reason = 'the data folder is a copy'
  server.app.app.db.prepare('UPDATE folderMark SET quietSince = 1, quietReason = ?').run(reason)
  await openAs(screen, server.keyOf('viewer'), '/issues')
  await screen.reads('This server sends nothing')
  await screen.reads('An owner can resume it.')
  await screen.page.setViewport({ width: 360, height: 800 })
  await openAs(screen, server.app.owner.apiKey, '/')
  await screen.reads(reason)
  await shoot('quiet')
  await screen.press('Resume')
  await screen.sees('dialog', 'Resume sending?')
  await screen.reads('Resume only one of the copies')
  await shoot('resume')
  await screen.page.click('[role=dialog] button.destroys')
  await screen.reads('The server sends notifications again.')
  await screen.page.waitForFunction(() => !document.body.textContent?.includes('This server sends nothing'))
  expect(screen.errors).toEqual([])
})

/** Checks the page in both themes. With `SHOTS`, also saves screenshots in that folder. */
async function shoot(name: string): Promise<void> {
  const { page } = world.screen
  for (const value of ['light', 'dark']) {
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value }])
    await page.waitForFunction(() => document.getAnimations().length === 0)
    expect(await axeFindings(page)).toEqual([])
    const folder = process.env.SHOTS
    if (folder) await page.screenshot({ path: `${folder}/backups-${name}-${value}.png` })
  }
}
