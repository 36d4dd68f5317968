import type { Block, MailDocument } from './mail-document.ts'
import { block, button, footer, header, heading, headline } from './mail-elements.ts'
import { LOGO_CID_URL } from './mail-logo.ts'
import { mailPage } from './mail-theme.ts'

/** Maximum size of an e-mail in bytes. Gmail clips messages above 102 kB. */
export const MAX_HTML_BYTES = 100_000

/**
 * Renders an e-mail as an HTML page smaller than 100 kB, without external resources. If the page would be larger, the
 * last sections are omitted and a note says so.
 * @param logoUrl Default: the URL of `LOGO_PICTURE`, which the e-mail must contain.
 */
export function renderMailHtml(mail: MailDocument<Block>, logoUrl = LOGO_CID_URL): string {
  for (let count = mail.sections.length; ; count--) {
    const page = pageOf(shortened(mail, count), logoUrl)
    if (Buffer.byteLength(page) < MAX_HTML_BYTES || count === 0) return page
  }
}

/** Keeps the first sections. */
function shortened(mail: MailDocument<Block>, count: number): MailDocument<Block> {
  const cut = mail.sections.length - count
  if (cut === 0) return mail
  const note = `${cut} more ${cut === 1 ? 'section' : 'sections'} in the dashboard, omitted to keep this e-mail short.`
  return { ...mail, sections: mail.sections.slice(0, count), notes: [...mail.notes, note] }
}

function pageOf(mail: MailDocument<Block>, logoUrl: string): string {
  const sections = mail.sections.map(({ title, blocks }) => [heading(title), ...blocks.map(block)])
  return mailPage({
    title: mail.subject,
    preview: mail.preview,
    above: header(mail, logoUrl),
    body: [headline(mail), ...sections, mail.button && button(mail.button)],
    below: footer(mail),
  })
}
