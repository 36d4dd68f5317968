import { readFileSync } from 'node:fs'
import type { Page } from 'puppeteer-core'

const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8')

/** Returns the serious and critical axe-core findings on the page, one per line; empty if there are none. */
export async function axeFindings(page: Page): Promise<string[]> {
  await page.evaluate(AXE)
  return page.evaluate(async () => {
    const { axe } = window as unknown as { axe: { run(): Promise<{ violations: Violation[] }> } }
    interface Violation {
      id: string
      impact: string
      nodes: { html: string; failureSummary: string }[]
    }
    const { violations } = await axe.run()
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .flatMap(({ id, nodes }) =>
        nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
      )
  })
}
