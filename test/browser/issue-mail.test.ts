import { expect, test } from 'bun:test'
import type { Page } from 'puppeteer-core'
import { groupText, summarizeGroup } from '../../src/integrations/message/grouped-message-text.ts'
import {
  fallMessage,
  NOTIFIED_AT,
  PURCHASE_FACTS,
  purchaseMessage,
} from '../../src/integrations/message/message.fixture.ts'
import { failureMessage, type Message, testMessage } from '../../src/integrations/message/message.ts'
import { groupHtml } from '../../src/integrations/message/message-mail.ts'
import { mailOf } from '../../src/integrations/providers/email/email.ts'
import { LOGO_PICTURE } from '../../src/mail/mail-logo.ts'
import { mailTransport } from '../../src/transport/mail-transport.ts'
import { mailbox } from '../../src/transport/receiver.fixture.ts'
import type { MailOutbound } from '../../src/transport/transport.ts'
import { startBrowser } from './chromium.ts'

const at = NOTIFIED_AT

const long = 'x'.repeat(450)
const publicUrl = 'https://tags.company.example'

/** Hostile names and values: markup, unbreakable strings, right-to-left text, line breaks. */
const hostile = purchaseMessage({
  issue: {
    ...PURCHASE_FACTS.issue,
    title: `<script>alert(1)</script> ${long}`,
    severity: 'medium',
    hosts: Array.from({ length: 20 }, (_, index) => `${'host'.repeat(20)}-${index}.example`),
    notes: `שלום עולם ${long} </td></tr></table><style>*{display:none}</style>`,
  },
  alert: { id: 'alr_1', name: 'מבצע <img src=x onerror=alert(1)> " onclick="alert(1)' },
  domain: { id: 'dom_1', name: `${long}.example` },
  finding: {
    summary: `\u202e${long}\r\nBcc: eve@example.com`,
    observed: 1e300,
    expected: -0.5,
    vendor: long,
    event: '‮مرحبا <b>',
    sample: { [long]: long, '<u>': '</td>', params: { value: '', arabic: 'مرحبا بالعالم', [long]: `${long}'">` } },
  },
})

const mails: [string, Message][] = [
  ['an opening', purchaseMessage()],
  ['a drop', fallMessage()],
  ['a resolution', purchaseMessage({ transition: 'resolved' })],
  ['a test', testMessage({ at, publicUrl, label: 'On call' })],
  [
    'a failed delivery',
    failureMessage(purchaseMessage(), { at, channel: 'Webhook hooks.example.com', reason: 'HTTP 500' }),
  ],
  ['hostile names', hostile],
]

function groupMail(): MailOutbound {
  const members = Array.from({ length: 37 }, (_, index) => ({
    message: index === 3 ? hostile : index % 2 === 0 ? purchaseMessage() : fallMessage(),
  }))
  const words = summarizeGroup(members)
  return {
    kind: 'mail',
    to: ['ann@example.com'],
    subject: words.subject,
    text: groupText(words),
    html: groupHtml(words),
    messageId: 'dlv_group',
    threadId: null,
    pictures: [LOGO_PICTURE],
  }
}

/** Sends the e-mail through SMTP and parses it as a mail client does, with images inlined. */
async function received(outbound: MailOutbound): Promise<{ html: string; text: string; pictures: number }> {
  await using box = await mailbox()
  const send = mailTransport({ smtpUrl: `smtp://127.0.0.1:${box.port}`, from: 'Tagwarden <watch@tagwarden.example>' })
  expect(await send(outbound, new AbortController().signal)).toMatchObject({ status: 250 })
  const { default: PostalMime } = await import('postal-mime')
  const mail = await PostalMime.parse(box.mails[0]?.source ?? '')
  expect(mail.subject).toBe(outbound.subject)
  expect(mail.headers.map(({ key }) => key)).not.toContain('bcc')
  const html = mail.attachments.reduce((page, { contentId, content, mimeType, disposition, related }) => {
    expect({ mimeType, disposition, related }).toEqual({ mimeType: 'image/png', disposition: 'inline', related: true })
    const data = Buffer.from(content as ArrayBuffer).toString('base64')
    return page.replaceAll(`cid:${contentId?.slice(1, -1)}`, `data:image/png;base64,${data}`)
  }, mail.html ?? '')
  return { html, text: mail.text ?? '', pictures: mail.attachments.length }
}

/** Returns layout and contrast defects at this width and in this color scheme. */
async function faultsOf(page: Page, html: string, width: number, scheme: 'light' | 'dark'): Promise<string[]> {
  await page.setViewport({ width, height: 700 })
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }])
  await page.setContent(html)
  return page.evaluate(() => {
    const faults: string[] = []
    const over = document.documentElement.scrollWidth - innerWidth
    if (over > 0) faults.push(`${over} px wider than the screen`)
    for (const image of document.images) if (image.naturalWidth === 0) faults.push(`the image ${image.alt} is missing`)
    const channels = (color: string) => (color.match(/[\d.]+/g) ?? []).map(Number)
    const luminance = (color: string) => {
      const [red = 0, green = 0, blue = 0] = channels(color).map((value) => {
        const share = value / 255
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
      })
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue
    }
    const isOpaque = (color: string) => (channels(color)[3] ?? 1) === 1
    const behind = (element: Element | null): string => {
      const color = element ? getComputedStyle(element).backgroundColor : 'rgb(255, 255, 255)'
      return isOpaque(color) ? color : behind(element?.parentElement ?? null)
    }
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    let seen = 0
    while (texts.nextNode()) {
      const element = texts.currentNode.parentElement
      const text = texts.currentNode.textContent?.trim() ?? ''
      if (!element || text === '' || !element.checkVisibility()) continue
      seen++
      // https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio
      const [ink, paper] = [luminance(getComputedStyle(element).color), luminance(behind(element))]
      const ratio = (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05)
      if (ratio < 4.5) faults.push(`contrast ${ratio.toFixed(2)} of "${text.slice(0, 40)}"`)
      const { right, left } = element.getBoundingClientRect()
      if (right > innerWidth + 1 || left < -1) faults.push(`"${text.slice(0, 40)}" leaves the screen`)
    }
    if (seen < 3) faults.push('the page is empty')
    if (document.scripts.length > 0) faults.push('there is a script')
    return faults
  })
}

test('e-mails are readable on narrow and wide screens, in light and dark mode, with any content', async () => {
  const outbounds = [
    ...mails.map(([name, message]) => [name, mailOf(message, { to: ['ann@example.com'] }, 'dlv_1')] as const),
  ]
  await using chromium = await startBrowser()
  const page = await chromium.browser.newPage()
  const loaded: string[] = []
  page.on('request', (request) => {
    if (!request.url().startsWith('data:')) loaded.push(request.url())
  })
  for (const [name, outbound] of [...outbounds, ['a group', groupMail()] as const]) {
    const { html, text, pictures } = await received(outbound)
    expect([name, pictures]).toEqual([name, outbound.pictures?.length ?? 0])
    expect(text.trim()).toBe(outbound.text.trim())
    for (const width of [320, 800]) {
      for (const scheme of ['light', 'dark'] as const) {
        expect([name, width, scheme, await faultsOf(page, html, width, scheme)]).toEqual([name, width, scheme, []])
      }
    }
  }
  expect(loaded).toEqual([])

  // Only the values that differ are marked.
  await page.setContent((await received(mailOf(purchaseMessage(), { to: ['ann@example.com'] }, 'dlv_1'))).html)
  const marked = await page.$$eval('.pair .bad, .pair .good', (cells) => cells.map(({ textContent }) => textContent))
  expect(marked).toEqual(['empty', '89.90'])
  const images = await page.$$eval('img', (all) => all.map(({ alt }) => alt))
  expect(images).toEqual(['Tagwarden', expect.stringContaining('Violating events per hour, 4 Jan 2026, 14:00')])
})
