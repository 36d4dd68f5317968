import { mkdir, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { recordHar, webSocketUrlOf } from './record-har.mjs'

/**
 * Writes a HAR for each spec that runs in Chrome, Edge or Electron with a debugging port. In `cypress.config.mjs`:
 *
 *     import { installHar } from './har/cypress.mjs'
 *     export default { e2e: { setupNodeEvents: (on) => installHar(on, { folder: 'hars' }) } }
 *
 * Tested in Chromium, but with a stub of Cypress, whose package downloads a program when it is installed.
 *
 * @param {(event: string, handler: (...args: any[]) => unknown) => void} on
 * @param {{folder: string}} options folder of the HAR files, which is created
 */
export function installHar(on, { folder }) {
  let port = null
  let recording = null
  on('before:browser:launch', (_browser, options) => {
    port = /--remote-debugging-port=(\d+)/.exec(options.args.join(' '))?.[1] ?? null
    return options
  })
  on('before:spec', () => {
    recording = null
  })
  // Called by `cy.task('startHar')` in a `before` hook, because the browser does not run before that.
  on('task', {
    async startHar() {
      if (port === null) throw new Error('the browser has no debugging port: run the spec in Chrome or Edge')
      recording ??= await recordHar(await webSocketUrlOf(port))
      return null
    },
  })
  on('after:spec', async (spec) => {
    if (recording === null) return
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, `${basename(spec.relative)}.har`), JSON.stringify(await recording.stop()))
    recording = null
  })
}
