// A pure table: the active codes of ISO 4217 list one that have a minor unit, by its digits, as of
// amendment 180 (Bulgaria took the euro on 2026-01-01). A later amendment changes only this file.

/**
 * Not here because withdrawn: see `withdrawnCurrencies`. Not here because without a minor unit, so that no amount could be printed: metals (XAU, XAG, XPT,
 * XPD), units of account (XDR, XSU, XUA, XBA to XBD), the test code XTS and "no currency" XXX.
 */
export const currencyTable = [
  {
    minorDigits: 0,
    codes: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
  },
  {
    minorDigits: 2,
    codes: `
      AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD
      CAD CDF CHE CHF CHW CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP
      GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK
      LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO
      NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS
      SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST
      XAD XCD XCG YER ZAR ZMW ZWG`,
  },
  { minorDigits: 3, codes: 'BHD IQD JOD KWD LYD OMR TND' },
  { minorDigits: 4, codes: 'CLF UYW' },
] as const

/**
 * The codes that ISO 4217 list three has withdrawn since 2000, by the month of their withdrawal. A code is right for
 * purchases up to the end of that month: most were legal tender beside their successor for some weeks.
 */
export const withdrawnCurrencies = {
  '2000-02': 'AON AOR',
  '2001-01': 'BYB',
  '2001-04': 'TJR',
  '2002-03': 'ATS BEF DEM ESP FIM FRF GRD IEP ITL LUF NLG PTE',
  '2002-11': 'TPE',
  '2003-01': 'AFA',
  '2003-07': 'ADP YUM',
  '2003-11': 'BGL',
  '2003-12': 'SRG',
  '2004-01': 'RUR',
  '2004-12': 'MGF',
  '2005-06': 'ROL',
  '2005-10': 'AYM',
  '2005-12': 'AZM TRL',
  '2006-06': 'MZM',
  '2006-09': 'ZWN',
  '2006-10': 'CSD',
  '2007-01': 'SIT',
  '2007-07': 'SDD',
  '2008-01': 'CYP GHC MTL VEB',
  '2008-08': 'ZWD',
  '2009-01': 'SKK TMM',
  '2009-06': 'ZWR',
  '2011-01': 'EEK',
  '2012-12': 'ZMK',
  '2014-01': 'LVL',
  '2014-12': 'LTL',
  '2017-01': 'BYR',
  '2017-12': 'MRO STD',
  '2018-08': 'VEF',
  '2021-06': 'CUC',
  '2023-01': 'HRK',
  '2023-12': 'SLL',
  '2024-09': 'ZWL',
  '2025-03': 'ANG',
  '2026-01': 'BGN',
} as const
