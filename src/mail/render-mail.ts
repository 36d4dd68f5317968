import type { MailDocument } from './mail-document.ts'
import { LOGO_PICTURE } from './mail-logo.ts'
import { renderMailHtml } from './render-mail-html.ts'
import { renderMailText } from './render-mail-text.ts'

/** Renders an e-mail as both HTML and plain text, with the images that the HTML embeds. */
export const renderMail = (document: MailDocument) => ({
  subject: document.subject,
  text: renderMailText(document),
  html: renderMailHtml(document),
  pictures: [LOGO_PICTURE],
})
