/** The pages of this folder are one file of script. */
export { ChangePage } from './change-page.tsx'
export { ChangesPage } from './changes-page.tsx'
