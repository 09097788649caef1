"""Pictures made from results that analysis has computed. Never computes a statistic; needs the extra `report`."""
