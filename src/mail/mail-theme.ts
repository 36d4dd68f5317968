import { Html, html, type Part } from '../core/html.ts'

/**
 * Theme shared by all e-mails: colours, fonts and page frame. E-mails load no external resources. Every element has
 * inline styles because many clients ignore style sheets. The style sheet only adds dark colours and rules for narrow
 * screens.
 */

interface Colors {
  /** Page background. */
  page: string
  card: string
  ink: string
  /** Secondary text. Its contrast is at least 4.5:1 on the page and the card. */
  muted: string
  line: string
  accent: string
  /** Background of a box inside the card. */
  soft: string
  /** Text colour of each tone. The corresponding background is named `on…`. */
  good: string
  onGood: string
  bad: string
  onBad: string
  warn: string
  onWarn: string
  /** Bars for the current period and for the comparison period. */
  bar: string
  barBefore: string
}

const LIGHT: Colors = {
  page: '#f3f4f6',
  card: '#ffffff',
  ink: '#16191d',
  muted: '#57606a',
  line: '#e2e5e9',
  accent: '#0b57d0',
  soft: '#f6f7f9',
  good: '#17693a',
  onGood: '#e4f5ea',
  bad: '#b3261e',
  onBad: '#fdebea',
  warn: '#855200',
  onWarn: '#fdf2de',
  bar: '#3b78e7',
  barBefore: '#c6d3ea',
}

const DARK: Colors = {
  page: '#0f1113',
  card: '#1a1d21',
  ink: '#e8eaed',
  muted: '#a6adb5',
  line: '#32373d',
  accent: '#8ab4f8',
  soft: '#22262b',
  good: '#7ed99a',
  onGood: '#15301f',
  bad: '#ff9d94',
  onBad: '#3c1b19',
  warn: '#f2c066',
  onWarn: '#362910',
  bar: '#7aa9f5',
  barBefore: '#3b4a63',
}

const FONT = "system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"
const MONO = "ui-monospace,SFMono-Regular,Menlo,Consolas,'Liberation Mono',monospace"

/** Styles for external text, which may contain no break opportunities. */
const WRAP = 'overflow-wrap:anywhere;word-break:break-word'
/** Styles for names and values of events. */
export const CODE = `font-family:${MONO};font-size:12px`

/** Styles by class, generated for both the light and the dark scheme. */
const CLASSES = {
  page: (c: Colors) => `background:${c.page};color:${c.ink}`,
  card: (c: Colors) => `background:${c.card};color:${c.ink}`,
  soft: (c: Colors) => `background:${c.soft};color:${c.ink}`,
  ink: (c: Colors) => `color:${c.ink}`,
  muted: (c: Colors) => `color:${c.muted}`,
  line: (c: Colors) => `border-color:${c.line}`,
  link: (c: Colors) => `color:${c.accent}`,
  button: (c: Colors) => `background:${c.accent};color:${c.card}`,
  good: (c: Colors) => `background:${c.onGood};color:${c.good}`,
  bad: (c: Colors) => `background:${c.onBad};color:${c.bad}`,
  warn: (c: Colors) => `background:${c.onWarn};color:${c.warn}`,
  goodInk: (c: Colors) => `color:${c.good}`,
  badInk: (c: Colors) => `color:${c.bad}`,
  warnInk: (c: Colors) => `color:${c.warn}`,
  bar: (c: Colors) => `background:${c.bar}`,
  barBefore: (c: Colors) => `background:${c.barBefore}`,
} as const
export type ThemeClass = keyof typeof CLASSES

/** Classes that change the layout on narrow screens, defined in the style sheet. */
type LayoutClass = 'pad' | 'num' | 'wide'

/**
 * Returns the attributes of an element: its classes, and the same colours inline for clients that ignore style sheets.
 * @param styles Additional inline styles. They precede the colours, so that `border-top:1px solid` keeps its colour.
 */
export function themed(
  classes: ThemeClass | readonly ThemeClass[],
  styles = '',
  layout: readonly LayoutClass[] = [],
): Html {
  const names = [classes].flat()
  const inline = [...(styles === '' ? [] : [styles]), ...names.map((name) => CLASSES[name](LIGHT))]
  return new Html(`class="${[...names, ...layout].join(' ')}" style="${inline.join(';')}"`)
}

/** Attributes of a table used for layout. */
export const LAYOUT = new Html('role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"')

const important = (styles: string) => styles.replaceAll(';', ' !important;').concat(' !important')

// Outlook on the web adds `[data-ogsc]` to e-mails that it shows in dark mode.
const DARK_STYLES = Object.entries(CLASSES).map(([name, styles]) => [name, important(styles(DARK))] as const)

const STYLE = `
:root{color-scheme:light dark;supported-color-schemes:light dark}
body{margin:0;padding:0;width:100%}
a{text-decoration:underline}
@media(max-width:480px){.wide{display:none !important}.num{width:auto !important}.pad{padding-left:16px !important;padding-right:16px !important}
.pair,.pair tbody,.pair tr,.pair th{display:block !important;width:auto !important}
.pair th{padding:6px 0 0 !important}
.pair td{display:inline-block !important;width:50% !important;box-sizing:border-box;vertical-align:top;border-top-width:0 !important;padding:3px 8px 6px !important}
.pair td:first-child{display:none !important}
.pair .same th{display:inline-block !important;width:36% !important;box-sizing:border-box;padding:6px 8px 6px 0 !important}
.pair .same td{width:64% !important;border-top-width:1px !important;border-top-style:solid !important;padding:6px 0 !important}}
@media(prefers-color-scheme:dark){
${DARK_STYLES.map(([name, styles]) => `.${name}{${styles}}`).join('\n')}
}
${DARK_STYLES.map(([name, styles]) => `[data-ogsc] .${name}{${styles}}`).join('\n')}`

interface MailFrame {
  /** Page title: a single line of plain text. */
  title: string
  /** Preview text shown next to the subject in message lists: a single line of plain text. May be empty. */
  preview: string
  /** Content above the card. */
  above: Html
  /** Content of the card. */
  body: Part
  /** Content below the card, in small type. Null if there is none. */
  below: Part
}

/** Renders a complete HTML page in a single column of at most 640 px. */
export function mailPage({ title, preview, above, body, below }: MailFrame): string {
  const row = (content: Part, attributes: Html) => html`<tr><td ${attributes}>${content}</td></tr>\n`
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${title}</title>
<style>${new Html(STYLE)}
</style>
</head>
<body ${themed('page', `margin:0;padding:0;font:15px/1.5 ${FONT}`)}>
<div style="display:none;max-height:0;overflow:hidden;mso-hide:all">${preview}</div>
<table ${LAYOUT} ${themed('page', 'width:100%;border-collapse:collapse')}>
<tr><td align="center" style="padding:20px 8px">
<table ${LAYOUT} style="width:100%;max-width:640px;border-collapse:separate;table-layout:fixed">
${row(above, themed('ink', `padding:0 24px 12px;text-align:left;${WRAP}`, ['pad']))}${row(body, themed('card', `padding:24px;border-radius:12px;text-align:left;${WRAP}`, ['pad']))}${below !== null && row(below, themed('muted', `padding:16px 24px;text-align:left;font-size:13px;${WRAP}`, ['pad']))}</table>
</td></tr>
</table>
</body>
</html>
`.text
}
