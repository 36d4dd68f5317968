import { readFileSync } from 'node:fs'
import type { Page } from 'puppeteer-core'

const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8')

interface Results {
  violations: { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }[]
}

/** Returns the serious and critical axe-core findings on the page, one per line; empty if there are none. */
export async function axeFindings(page: Page): Promise<string[]> {
  return linesOf(await run(page, {}))
}

/** Returns the findings of one rule, which may be one that axe-core does not check by default. */
export async function axeRule(page: Page, rule: string): Promise<string[]> {
  return linesOf(await run(page, { runOnly: { type: 'rule', values: [rule] } }))
}

async function run(page: Page, options: object): Promise<Results> {
  await page.evaluate(AXE)
  return page.evaluate((options) => {
    const { axe } = window as unknown as { axe: { run(options: object): Promise<Results> } }
    return axe.run(options)
  }, options)
}

const linesOf = ({ violations }: Results): string[] =>
  violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
    )
